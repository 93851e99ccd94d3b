package substrait_spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.LeftAnti$;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsDeleteV2;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TruncatableTable;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * What statements do that change rows of a table where they are, as queries over the table.
 *
 * <p>Of a statement, Spark's analysis makes what the table's source asks for, such as the rows of whole files; Delta makes a
 * command of its own. What was written is read of either, so that a statement that has run is read as one that has not.
 * Compiled by Janino as PlanReader is, and after AnalyzedPlan.
 */
public class RowChanges {
  /** The column that tells a source what to do with a row, and the number that has it delete one. */
  private static final String OPERATION = "__row_operation";
  private static final Integer DELETED = Integer.valueOf(1);

  private static final String FROM_TARGET = "__row_from_target";

  private static final String DELTA = "org.apache.spark.sql.delta.";

  private static final Map<String, String> DELTAS_KINDS = new HashMap<String, String>();

  static {
    DELTAS_KINDS.put("DeleteCommand", "DELETE");
    DELTAS_KINDS.put("UpdateCommand", "UPDATE");
    DELTAS_KINDS.put("MergeIntoCommand", "MERGE");
  }

  /** A form that no Spark or Delta is known to have. */
  private static final String UNKNOWN = "unknown";

  public static class Change {
    /** DELETE, UPDATE, MERGE, or OVERWRITE where new rows take the place of some. */
    private final String kind;
    /** What stands in the way, in a word; null where nothing does. */
    private final String obstacle;
    /** The parts of the table's name. */
    private final String[] table;
    /**
     * Of a DELETE the rows that go, and of an OVERWRITE. Of an UPDATE the rows that change, and behind their columns each new value, under its
     * column's place. Of a MERGE the table's columns, and behind them all of its expressions, over the table and the source.
     */
    private final LogicalPlan rows;
    /** What a MERGE's expressions are, as JSON; null of others. */
    private final String clauses;

    Change(String kind, String obstacle, String[] table, LogicalPlan rows, String clauses) {
      this.kind = kind;
      this.obstacle = obstacle;
      this.table = table;
      this.rows = rows;
      this.clauses = clauses;
    }

    public String kind() {
      return kind;
    }

    public String obstacle() {
      return obstacle;
    }

    public String[] table() {
      return table;
    }

    public LogicalPlan rows() {
      return rows;
    }

    public String clauses() {
      return clauses;
    }
  }

  /** The rows of a change, as a plan to be read: as the statement was written, so that nothing is pushed into a source. */
  public static class Finishing extends PlanReader.InSession {
    private final QueryExecution execution;
    private final LogicalPlan rows;
    private final SQLConf settings;

    public Finishing(QueryExecution execution, LogicalPlan rows, SQLConf settings) {
      super(execution.sparkSession(), settings);
      this.execution = execution;
      this.rows = rows;
      this.settings = settings;
    }

    public Object apply() {
      QueryExecution own = execution.sparkSession().sessionState().executePlan(rows, CommandExecutionMode$.MODULE$.SKIP());
      return new AnalyzedPlan.Finishing(own, settings).apply();
    }
  }

  /** What is unlike anything that is known. */
  private static class Unread extends RuntimeException {
    Unread(String obstacle) {
      super(obstacle);
    }
  }

  /** What a command of an analyzed plan does to rows; null of one that changes none where they are. */
  public static Change of(LogicalPlan command) {
    String name = PlanReader.Walk.simpleName(command.getClass());
    boolean isDelta = command.getClass().getName().startsWith(DELTA);
    String kind = isDelta ? (String) DELTAS_KINDS.get(name) : kind(command, name);
    if (kind == null) return null;
    LogicalPlan target = (LogicalPlan) field(command, isDelta ? "target" : isRewritten(name) ? "originalTable" : "table");
    Hidden hidden = new Hidden();
    LogicalPlan table = (LogicalPlan) target.transformUp(hidden);
    if (hidden.parts == null) return hidden.isPath ? new Change(kind, "unnamed", null, null, null) : null;
    if (command instanceof DeleteFromTable && !deletes(hidden.source, ((DeleteFromTable) command).condition())) return null;
    try {
      StringBuilder clauses = kind.equals("MERGE") ? new StringBuilder() : null;
      Merge merge = kind.equals("MERGE") ? new Merge(command, table, clauses) : null;
      LogicalPlan rows = kind.equals("DELETE") ? selected(command, table, "condition") : kind.equals("OVERWRITE") ? selected(command, table, "deleteExpr") : kind.equals("UPDATE") ? updated(command, table, isDelta) : merge.rows();
      requireNoDefault(hidden.source, table, merge == null ? condition(field(command, kind.equals("OVERWRITE") ? "deleteExpr" : "condition")) : merge.condition);
      if (hidden.source != null && table.output().size() != hidden.source.schema().size()) throw new Unread("metadata");
      return new Change(kind, null, hidden.parts, rows, clauses == null ? null : clauses.toString());
    } catch (Unread unread) {
      return new Change(kind, unread.getMessage(), hidden.parts, null, null);
    }
  }

  /** Refuses a condition on columns of Iceberg's with default values: its reader in Spark doesn't find the rows of older files by them. */
  private static void requireNoDefault(Table source, LogicalPlan table, Expression condition) {
    List defaulted = source == null ? new ArrayList() : PlanReader.Walk.icebergDefaulted(PlanReader.Walk.call(PlanReader.Walk.call(source, "table"), "schema"));
    Iterator columns = list(table.output()).iterator();
    while (columns.hasNext()) {
      Attribute column = (Attribute) columns.next();
      if (defaulted.contains(column.name()) && condition.references().contains(column)) throw new Unread("defaulted");
    }
  }

  private static Object field(Object product, String wanted) {
    String[] names = PlanReader.Walk.fieldNames((scala.Product) product);
    for (int i = 0; i < names.length; i++) if (names[i].equals(wanted)) return ((scala.Product) product).productElement(i);
    throw new Unread(UNKNOWN);
  }

  static List list(Object collection) {
    List found = new ArrayList();
    Iterator each = PlanReader.Walk.javaIterator(collection);
    while (each.hasNext()) found.add(each.next());
    return found;
  }

  /** A condition, which is true where none is given. */
  private static Expression condition(Object given) {
    Object found = given instanceof scala.Option ? ((scala.Option) given).isEmpty() ? Literal.TrueLiteral() : ((scala.Option) given).get() : given;
    return (Expression) found;
  }

  private static boolean isRewritten(String name) {
    return name.equals("ReplaceData") || name.equals("WriteDelta");
  }

  /** What a MERGE is that does nothing but insert: the second since Spark 4.3. */
  private static boolean isAppend(String name) {
    return name.equals("AppendData") || name.equals("InsertOnlyMerge");
  }

  private static String kind(LogicalPlan command, String name) {
    if (command instanceof DeleteFromTable) return "DELETE";
    if (name.equals("OverwriteByExpression")) return isAlways(condition(field(command, "deleteExpr"))) ? null : "OVERWRITE";
    if (isAppend(name)) return appended(command) == null ? null : "MERGE";
    return isRewritten(name) ? operation(command) : null;
  }

  private static String operation(LogicalPlan command) {
    Object table = field(command, "table");
    if (!(table instanceof DataSourceV2Relation) || !(((DataSourceV2Relation) table).table() instanceof RowLevelOperationTable)) return null;
    return ((RowLevelOperationTable) ((DataSourceV2Relation) table).table()).operation().command().name();
  }

  /** Whether a table's source deletes rows by a condition: Spark itself plans no such statement. */
  private static boolean deletes(Table source, Expression condition) {
    return source instanceof SupportsDeleteV2 || source instanceof TruncatableTable && isAlways(condition);
  }

  private static LogicalPlan selected(LogicalPlan command, LogicalPlan table, String condition) {
    return new Filter(condition(field(command, condition)), table);
  }

  private static LogicalPlan updated(LogicalPlan command, LogicalPlan table, boolean isDelta) {
    Expression condition = condition(field(command, "condition"));
    List columns = list(table.output());
    int width = columns.size();
    List values = isDelta ? list(field(command, "updateExpressions")) : values((LogicalPlan) field(command, "query"), condition, width);
    if (values.size() < width) throw new Unread(UNKNOWN);
    for (int i = 0; i < width; i++) {
      if (!isSame(values.get(i), columns.get(i))) columns.add(named((Expression) values.get(i), String.valueOf(i)));
    }
    return new Project(PlanReader.Walk.list(columns), isAlways(condition) ? table : new Filter(condition, table));
  }

  private static Alias named(Expression value, String name) {
    scala.collection.immutable.Nil$ none = scala.collection.immutable.Nil$.MODULE$;
    return new Alias(value, name, NamedExpression$.MODULE$.newExprId(), none, scala.Option.empty(), none);
  }

  private static boolean isNumbered(Object output) {
    return output instanceof NamedExpression && ((NamedExpression) output).name().equals(OPERATION);
  }

  private static Object unnamed(Object value) {
    return value instanceof Alias ? ((Alias) value).child() : value;
  }

  /** The value that an update gives to each column: of what a source is to write for the rows that change. */
  private static List values(LogicalPlan query, Expression condition, int width) {
    LogicalPlan rows = query;
    if (rows instanceof Expand && isNumbered(rows.output().head())) {
      List projections = list(((Expand) rows).projections());
      List last = list(projections.get(projections.size() - 1));
      return last.subList(1, last.size());
    }
    // The number stands before columns that a project below computes, or with them.
    if (isNumbered(rows.output().head()) && !rows.children().isEmpty() && isComputed((LogicalPlan) rows.children().head())) rows = (LogicalPlan) rows.children().head();
    // Where a subquery is in the condition, the rows that change come first, and those that stay after them.
    if (rows instanceof Union) rows = (LogicalPlan) rows.children().head();
    if (!(rows instanceof Project)) throw new Unread(UNKNOWN);
    boolean areAllChanged = ((Project) rows).child() instanceof Filter;
    List outputs = list(((Project) rows).projectList());
    int first = isNumbered(outputs.get(0)) ? 1 : 0;
    List found = new ArrayList();
    for (int i = first; i < outputs.size() && found.size() < width; i++) found.add(changed((Expression) unnamed(outputs.get(i)), condition, areAllChanged));
    return found;
  }

  private static boolean isComputed(LogicalPlan rows) {
    return rows instanceof Project || rows instanceof Union;
  }

  /** The value of a row that changes, of a choice between it and that of one that stays. */
  private static Expression changed(Expression value, Expression condition, boolean areAllChanged) {
    boolean isChoice = value instanceof If && (isAlways(((If) value).predicate()) || ((If) value).predicate().semanticEquals(condition));
    if (!isChoice && !areAllChanged) throw new Unread(UNKNOWN);
    return isChoice ? ((If) value).trueValue() : value;
  }

  private static boolean isAlways(Expression condition) {
    return Literal.TrueLiteral().equals(condition);
  }

  private static boolean isSame(Object value, Object column) {
    return ((Expression) value).semanticEquals((Expression) column);
  }

  /** The join of a command that inserts what a MERGE does not match, with the table itself; null of other commands. */
  private static Join appended(LogicalPlan command) {
    LogicalPlan query = (LogicalPlan) field(command, "query");
    boolean known = query instanceof Project || PlanReader.Walk.simpleName(query.getClass()).equals("MergeRows");
    if (!known || !(query.children().head() instanceof Join)) return null;
    Join join = (Join) query.children().head();
    // Columns of another read of the table would have other ids.
    boolean isMerge = join.joinType().equals(LeftAnti$.MODULE$) && join.right() instanceof DataSourceV2Relation
        && join.right().output().equals(((LogicalPlan) field(command, "table")).output());
    return isMerge ? join : null;
  }

  /** Collects the expressions of a MERGE. */
  private static class Merge {
    private final LogicalPlan command;
    private final LogicalPlan table;
    private final StringBuilder clauses;
    private final List columns;
    private final int width;
    private LogicalPlan source;
    private Expression condition;
    private final List expressions = new ArrayList();

    Merge(LogicalPlan command, LogicalPlan table, StringBuilder clauses) {
      this.command = command;
      this.table = table;
      this.clauses = clauses;
      this.columns = list(table.output());
      this.width = columns.size();
    }

    LogicalPlan rows() {
      clauses.append('{');
      if (command.getClass().getName().startsWith(DELTA)) delta();
      else if (isAppend(PlanReader.Walk.simpleName(command.getClass()))) {
        inserts();
        matchesOnce(false);
      }
      else rewritten();
      clauses.append('}');
      List output = new ArrayList(columns);
      output.add(named(condition, "condition"));
      for (int i = 0; i < expressions.size(); i++) output.add(named((Expression) expressions.get(i), String.valueOf(i)));
      LogicalPlan joined = new Join(table, source, Inner$.MODULE$, scala.Option.empty(), JoinHint$.MODULE$.NONE());
      return new Project(PlanReader.Walk.list(output), joined);
    }

    // ---- Delta's own command

    private void delta() {
      Object evolved = field(command, "migratedSchema");
      if (evolved instanceof scala.Some && !((StructType) ((scala.Some) evolved).get()).catalogString().equals(table.schema().catalogString())) throw new Unread("evolving");
      source = (LogicalPlan) field(command, "source");
      condition = condition(field(command, "condition"));
      List matched = list(field(command, "matchedClauses"));
      List inserts = list(field(command, "notMatchedClauses"));
      List left = list(field(command, "notMatchedBySourceClauses"));
      group("matched", matched);
      group("not_matched", inserts);
      group("not_matched_by_source", left);
      boolean insertsOnly = matched.isEmpty() && left.isEmpty();
      boolean deletesAll = matched.size() == 1 && isDelete(matched.get(0)) && isAlways(condition(field(matched.get(0), "condition")));
      matchesOnce(!insertsOnly && !deletesAll);
    }

    private void group(String name, List given) {
      begin(name);
      for (int i = 0; i < given.size(); i++) {
        Object clause = given.get(i);
        List values = null;
        if (!isDelete(clause)) {
          values = new ArrayList();
          List actions = list(field(clause, "actions"));
          for (int a = 0; a < actions.size(); a++) {
            List parts = list(field(actions.get(a), "targetColNameParts"));
            boolean known = a < width && parts.size() == 1 && ((Attribute) columns.get(a)).name().equalsIgnoreCase((String) parts.get(0));
            if (!known) throw new Unread(UNKNOWN);
            values.add(field(actions.get(a), "expr"));
          }
        }
        clause(condition(field(clause, "condition")), values, name.equals("not_matched"));
      }
      end();
    }

    private static boolean isDelete(Object clause) {
      return PlanReader.Walk.simpleName(clause.getClass()).endsWith("DeleteClause");
    }

    // ---- what Spark makes of a MERGE for sources that change rows

    private void inserts() {
      Join join = appended(command);
      LogicalPlan query = (LogicalPlan) field(command, "query");
      source = join.left();
      condition = condition(join.condition());
      if (!(query instanceof Project)) {
        instructions("not_matched", query, "notMatchedInstructions", false);
        return;
      }
      begin("not_matched");
      List values = list(((Project) query).projectList());
      for (int i = 0; i < values.size(); i++) values.set(i, unnamed(values.get(i)));
      clause(Literal.TrueLiteral(), values, true);
      end();
    }

    private void rewritten() {
      LogicalPlan rows = (LogicalPlan) field(command, "query");
      boolean known = PlanReader.Walk.simpleName(rows.getClass()).equals("MergeRows") && rows.children().head() instanceof Join;
      Join join = known ? (Join) rows.children().head() : null;
      known = known && join.left() instanceof Project && join.right() instanceof Project && isFromTarget((Project) join.left());
      if (!known) throw new Unread(UNKNOWN);
      source = ((Project) join.right()).child();
      condition = condition(join.condition());
      LogicalPlan target = ((Project) join.left()).child();
      if (target instanceof Filter) condition = new And(((Filter) target).condition(), condition);
      boolean numbered = isNumbered(((Attribute) rows.output().head()));
      instructions("matched", rows, "matchedInstructions", numbered);
      instructions("not_matched", rows, "notMatchedInstructions", numbered);
      instructions("not_matched_by_source", rows, "notMatchedBySourceInstructions", numbered);
      // Without a clause for matched rows, Spark does not look whether they are several, and writes a row of a file anew for each.
      boolean writesAnew = PlanReader.Walk.simpleName(command.getClass()).equals("ReplaceData") && clauses.indexOf("\"matched\":[]") >= 0;
      matchesOnce(Boolean.TRUE.equals(field(rows, "checkCardinality")) || writesAnew);
    }

    private static boolean isFromTarget(Project side) {
      Iterator output = PlanReader.Walk.javaIterator(side.output());
      while (output.hasNext()) if (((Attribute) output.next()).name().equals(FROM_TARGET)) return true;
      return false;
    }

    private void instructions(String name, LogicalPlan rows, String field, boolean numbered) {
      begin(name);
      List given = list(field(rows, field));
      for (int i = 0; i < given.size(); i++) {
        Object instruction = given.get(i);
        String does = PlanReader.Walk.simpleName(instruction.getClass());
        Expression condition = (Expression) field(instruction, "condition");
        List values = null;
        if (!does.equals("Discard")) {
          List output = list(field(instruction, does.equals("Split") ? "otherOutput" : "output"));
          boolean deletes = numbered && output.get(0) instanceof Literal && DELETED.equals(((Literal) output.get(0)).value());
          int first = numbered ? 1 : 0;
          if (output.size() < first + width) throw new Unread(UNKNOWN);
          if (!deletes) values = output.subList(first, first + width);
        }
        // The last one keeps the rows that no clause is for.
        boolean keeps = i == given.size() - 1 && isAlways(condition) && areSame(values);
        if (!keeps) clause(condition, values, name.equals("not_matched"));
      }
      end();
    }

    private boolean areSame(List values) {
      for (int i = 0; values != null && i < width; i++) if (!isSame(values.get(i), columns.get(i))) return false;
      return values != null;
    }

    // ---- as JSON

    private void begin(String name) {
      clauses.append(clauses.length() == 1 ? "" : ",").append('"').append(name).append("\":[");
    }

    private void end() {
      clauses.append(']');
    }

    /** A clause: its condition, and the values of columns, all of them for an insert; null values of a delete. */
    private void clause(Expression condition, List values, boolean inserts) {
      clauses.append(clauses.charAt(clauses.length() - 1) == '[' ? "" : ",").append("{\"delete\":").append(values == null).append(",\"columns\":[");
      expressions.add(condition);
      if (inserts && (values == null || values.size() != width)) throw new Unread(UNKNOWN);
      boolean first = true;
      for (int i = 0; values != null && i < values.size(); i++) {
        if (!inserts && isSame(values.get(i), columns.get(i))) continue;
        expressions.add(values.get(i));
        clauses.append(first ? "" : ",").append(i);
        first = false;
      }
      clauses.append("]}");
    }

    private void matchesOnce(boolean once) {
      clauses.append(",\"once\":").append(once);
    }
  }

  /** Puts tables of the same columns in the place of those that know how to change their rows. */
  public static class Hidden extends scala.runtime.AbstractPartialFunction {
    /** The parts of the table's name. */
    String[] parts;
    Table source;
    /** Whether nothing but a path tells the table. */
    boolean isPath;

    public boolean isDefinedAt(Object plan) {
      return plan instanceof DataSourceV2Relation || PlanReader.Walk.isCurrentDelta(plan);
    }

    public Object applyOrElse(Object plan, scala.Function1 otherwise) {
      if (!isDefinedAt(plan)) return otherwise.apply(plan);
      return plan instanceof LogicalRelation ? delta((LogicalRelation) plan) : relation((DataSourceV2Relation) plan);
    }

    private Object delta(LogicalRelation relation) {
      isPath = relation.catalogTable().isEmpty();
      if (isPath) return relation;
      parts = (String[]) list(((CatalogTable) relation.catalogTable().get()).identifier().nameParts()).toArray(new String[0]);
      DataSourceV2Relation made = DataSourceV2Relation.create(new Columns(parts, relation.schema()), scala.Option.empty(), scala.Option.empty());
      return with(made, 1, relation.output());
    }

    private Object relation(DataSourceV2Relation relation) {
      isPath = relation.catalog().isEmpty() || relation.identifier().isEmpty();
      if (isPath) return relation;
      source = relation.table();
      List names = new ArrayList();
      names.add(((CatalogPlugin) relation.catalog().get()).name());
      Identifier identifier = (Identifier) relation.identifier().get();
      names.addAll(Arrays.asList(identifier.namespace()));
      names.add(identifier.name());
      parts = (String[]) names.toArray(new String[0]);
      return with(relation, 0, new Columns(parts, relation.schema()));
    }

    /** A relation with another value in one of its fields. */
    private static Object with(DataSourceV2Relation relation, int place, Object value) {
      Object[] fields = new Object[relation.productArity()];
      for (int i = 0; i < fields.length; i++) fields[i] = i == place ? value : relation.productElement(i);
      return relation.makeCopy(fields);
    }
  }

  /** The columns of a table, read by its name (as PlanReader does with what a Spark Connect server has). */
  public static class Columns implements Table, SupportsRead, ScanBuilder, Scan {
    private final String[] parts;
    private final StructType columns;

    Columns(String[] parts, StructType columns) {
      this.parts = parts;
      this.columns = columns;
    }

    public String remoteKind() {
      return "table";
    }

    public String[] remoteName() {
      return parts;
    }

    public String name() {
      return parts[parts.length - 1];
    }

    public StructType schema() {
      return columns;
    }

    public StructType readSchema() {
      return columns;
    }

    public Set capabilities() {
      return Collections.singleton(TableCapability.BATCH_READ);
    }

    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return this;
    }

    public Scan build() {
      return this;
    }
  }
}
