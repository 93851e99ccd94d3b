package substrait_spark;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution;
import org.apache.spark.sql.catalyst.analysis.NamedParameter;
import org.apache.spark.sql.catalyst.analysis.PosParameter;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.analysis.ViewType;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.BaseGroupingSets;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.KnownNotNull;
import org.apache.spark.sql.catalyst.expressions.LeafExpression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.AlterTableCommand;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils$;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.CatalogV2Util$;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.command.AlterTableAddColumnsCommand;
import org.apache.spark.sql.execution.command.AlterTableChangeColumnCommand;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.collection.immutable.Nil$;

/**
 * Analyses a statement, and runs nothing of it. Its parameters stay open.
 *
 * <p>Compiled by Janino as PlanReader is, and after RowChanges.
 */
public class StatementReader {
  /** The fields of commands that hold a query. */
  private static final String[] QUERIES = {"query", "plan"};

  /** A statement, whose parameters have the names and types of a frame's columns; a 1 for each that may be null. */
  public Statement statement(String sql, Object parameters, String nullable) throws Exception {
    QueryExecution types = (QueryExecution) parameters.getClass().getMethod("queryExecution").invoke(parameters);
    return (Statement) PlanReader.onDeepStack(new Parsing(types, sql, nullable));
  }

  public static class Parsing extends PlanReader.InSession {
    private final SessionState state;
    private final String sql;
    private final List<DynamicParameter> parameters = new ArrayList<DynamicParameter>();

    Parsing(QueryExecution types, String sql, String nullable) {
      super(types.sparkSession(), null);
      this.state = types.sparkSession().sessionState();
      this.sql = sql;
      StructField[] fields = types.analyzed().schema().fields();
      for (int i = 0; i < fields.length; i++) {
        parameters.add(new DynamicParameter(fields[i].name(), i + 1, fields[i].dataType(), nullable.charAt(i) == '1'));
      }
    }

    public Object apply() {
      try {
        Open open = new Open(parameters);
        LogicalPlan parsed = state.sqlParser().parsePlan(sql);
        String kind = PlanReader.Walk.simpleName(parsed.getClass());
        return new Statement(state.executePlan(open.plan(parsed), CommandExecutionMode$.MODULE$.SKIP()), open, kind, evolves(parsed));
      } catch (Exception failed) {
        Platform.throwException(failed);
        return null;
      }
    }

    /** Whether a statement gives its table other columns, which analysis itself would do. */
    private static boolean evolves(LogicalPlan parsed) throws ReflectiveOperationException {
      try {
        return Boolean.TRUE.equals(parsed.getClass().getMethod("withSchemaEvolution").invoke(parsed));
      } catch (NoSuchMethodException never) {
        return false;
      }
    }
  }

  public static class Statement {
    private final QueryExecution execution;
    private final Open open;
    private final String kind;
    private final boolean evolves;
    private PlanReader.Query query;

    Statement(QueryExecution execution, Open open, String kind, boolean evolves) {
      this.execution = execution;
      this.open = open;
      this.kind = kind;
      this.evolves = evolves;
    }

    /** Whether it gives its table other columns. */
    public boolean evolves() {
      return evolves;
    }

    /** The class of the statement as it was parsed. */
    public String kind() {
      return kind;
    }

    /** What a command does, as JSON: its class and its fields, as far as they are no plans; a Union of several; null of a query. */
    public String command() throws Exception {
      LogicalPlan plan = execution.analyzed();
      boolean runs = plan instanceof Command || plan instanceof Union && plan.children().head() instanceof Command;
      return runs ? Description.of(plan, execution.sparkSession().sessionState()) : "null";
    }

    /** The query whose rows a command writes, or that a view stands for, as a statement of its own; null without one. */
    public Statement query() {
      Object found = Description.field(execution.analyzed(), QUERIES);
      if (!(found instanceof LogicalPlan)) return null;
      return over((LogicalPlan) found);
    }

    Statement over(LogicalPlan query) {
      SessionState state = execution.sparkSession().sessionState();
      return new Statement(state.executePlan(query, CommandExecutionMode$.MODULE$.SKIP()), open, kind, false);
    }

    /** What it does to rows of a table where they are; null where it changes none so. */
    public RowChanges.Change change() {
      return RowChanges.of(execution.analyzed());
    }

    /** The rows of a change, to be read as a DataFrame's plan is. */
    public Object rows(RowChanges.Change change) throws Exception {
      return change.rows() == null ? null : PlanReader.onDeepStack(new RowChanges.Finishing(execution, change.rows(), null));
    }

    /** A frame without rows, with the columns that a table has, or will have; null where the command doesn't say them. */
    public Object columns() throws Exception {
      StructType schema = Description.schema(execution.analyzed(), execution.sparkSession().sessionState());
      if (schema == null) return null;
      Object session = execution.sparkSession();
      Method create = session.getClass().getMethod("createDataFrame", new Class[] {List.class, StructType.class});
      return create.invoke(session, new Object[] {new ArrayList(), schema});
    }

    /** The names of parameters that nobody said the types of. */
    public List<String> missing() {
      return open.missing;
    }

    /** Whether it has parameters without names. */
    public boolean positional() {
      return open.positional;
    }

    /** The names of parameters in the place of a column's number. */
    public List<String> ordinals() {
      return open.ordinals;
    }

    public QueryExecution queryExecution() {
      return execution;
    }

    /** Throws what is wrong with the statement. */
    public void analyse() throws Exception {
      PlanReader.onDeepStack(new Analysing(execution));
    }

    /** The optimized plan, to be read as a DataFrame's is. */
    public Object optimized() throws Exception {
      if (query == null) query = (PlanReader.Query) PlanReader.onDeepStack(new Optimizing(execution, open.found));
      return query;
    }
  }

  /** What commands say of themselves. */
  public static class Description extends CommandFields.Writer {
    /** Metadata of columns: what they hold where nothing is said, as SQL; and of which length texts are. */
    private static final String DEFAULT = "CURRENT_DEFAULT";
    private static final String LENGTH = "__CHAR_VARCHAR_TYPE_STRING";
    private static final String COMMENT = "comment";

    static String of(LogicalPlan command, SessionState state) throws Exception {
      StringBuilder out = new StringBuilder();
      StructType schema = schema(command, state);
      new Description().begin((scala.Product) command, out);
      out.append(",\"marked\":").append(marked(schema, command instanceof AlterTableCommand));
      out.append(",\"lengths\":").append(said(schema, LENGTH));
      out.append(",\"comments\":").append(said(schema, COMMENT));
      return out.append(",\"defaults\":").append(said(schema, DEFAULT)).append('}').toString();
    }

    /** The first of these fields that a plan has. */
    static Object field(LogicalPlan plan, String[] wanted) {
      String[] names = PlanReader.Walk.fieldNames((scala.Product) plan);
      for (int w = 0; w < wanted.length; w++) {
        for (int i = 0; i < names.length; i++) if (names[i].equals(wanted[w])) return ((scala.Product) plan).productElement(i);
      }
      return null;
    }

    /**
     * The columns of a table of which more is said than types, comments, lengths and what they hold where nothing is said.
     *
     * <p>A source writes whatever it likes into the metadata of the columns that it has.
     */
    static String marked(StructType schema, boolean ofSource) {
      StringBuilder out = new StringBuilder("[");
      StructField[] fields = schema == null ? new StructField[0] : schema.fields();
      for (int i = 0; i < fields.length; i++) {
        MetadataBuilder rest = new MetadataBuilder().withMetadata(fields[i].metadata()).remove(COMMENT);
        if (fields[i].dataType() instanceof StringType) rest.remove(LENGTH);
        Metadata left = rest.remove(DEFAULT).remove("EXISTS_DEFAULT").build();
        boolean marked = ofSource ? left.contains(LENGTH) || left.contains("GENERATION_EXPRESSION") : !left.json().equals("{}");
        if (marked || fields[i].dataType().json().contains("\"" + COMMENT + "\":")) PlanReader.Walk.string(fields[i].name(), out.append(out.length() == 1 ? "" : ","));
      }
      return out.append(']').toString();
    }

    /** What the metadata of a table's columns says under a key, by their names. */
    static String said(StructType schema, String key) {
      StringBuilder out = new StringBuilder("{");
      StructField[] fields = schema == null ? new StructField[0] : schema.fields();
      for (int i = 0; i < fields.length; i++) {
        if (!fields[i].metadata().contains(key)) continue;
        PlanReader.Walk.string(fields[i].name(), out.append(out.length() == 1 ? "" : ","));
        PlanReader.Walk.string(fields[i].metadata().getString(key), out.append(':'));
      }
      return out.append('}').toString();
    }

    /** The columns of the table that a command is about, texts of limited length as texts whose metadata says so. */
    static StructType schema(LogicalPlan command, SessionState state) throws Exception {
      StructType found = columns(command, state);
      return found == null ? null : CharVarcharUtils$.MODULE$.replaceCharVarcharWithStringInSchema(found);
    }

    /** Those that it will have, if it changes them. */
    private static StructType columns(LogicalPlan command, SessionState state) throws Exception {
      Object table = field(command, new String[] {"table", "tableDesc", "tableName"});
      if (command instanceof AlterTableCommand) {
        StructType before = ((LogicalPlan) table).schema();
        scala.collection.immutable.Seq changes = PlanReader.Walk.list(list(((AlterTableCommand) command).changes()));
        // Whether its source has default values is the table's own business: the format is one that has.
        return CatalogV2Util$.MODULE$.applySchemaChanges(before, changes, scala.Option.apply("parquet"), "ALTER TABLE");
      }
      if (command instanceof AlterTableAddColumnsCommand) return added((AlterTableAddColumnsCommand) command, state);
      if (command instanceof AlterTableChangeColumnCommand) return changed((AlterTableChangeColumnCommand) command, state);
      if (table instanceof CatalogTable) return ((CatalogTable) table).schema();
      if (table instanceof LogicalPlan) return ((LogicalPlan) table).schema();
      try {
        return (StructType) command.getClass().getMethod("tableSchema").invoke(command);
      } catch (NoSuchMethodException none) {
        return null;
      }
    }

    private static StructType added(AlterTableAddColumnsCommand command, SessionState state) throws Exception {
      CatalogTable table = state.catalog().getTableMetadata(command.table());
      List fields = new ArrayList(Arrays.asList(table.dataSchema().fields()));
      fields.addAll(list(command.colsToAdd()));
      fields.addAll(Arrays.asList(table.partitionSchema().fields()));
      return new StructType((StructField[]) fields.toArray(new StructField[0]));
    }

    /** With another default value, an empty text for none: nothing else changes in a table of the session's catalog. */
    private static StructType changed(AlterTableChangeColumnCommand command, SessionState state) throws Exception {
      StructField[] fields = (StructField[]) state.catalog().getTableMetadata(command.tableName()).schema().fields().clone();
      StructField now = command.newColumn();
      for (int i = 0; i < fields.length; i++) {
        if (!fields[i].name().equals(command.columnName())) continue;
        if (!fields[i].dataType().equals(now.dataType()) || fields[i].nullable() != now.nullable()) return null;
        if (!fields[i].getComment().equals(now.getComment()) || !now.metadata().contains(DEFAULT)) return null;
        MetadataBuilder metadata = new MetadataBuilder().withMetadata(fields[i].metadata()).remove(DEFAULT);
        String text = now.metadata().getString(DEFAULT);
        if (text.length() > 0) metadata.putString(DEFAULT, text);
        fields[i] = new StructField(fields[i].name(), fields[i].dataType(), fields[i].nullable(), metadata.build());
        return new StructType(fields);
      }
      return null;
    }

    static List list(Object collection) {
      List found = new ArrayList();
      Iterator each = PlanReader.Walk.javaIterator(collection);
      while (each.hasNext()) found.add(each.next());
      return found;
    }

    public void other(Object value, StringBuilder out) {
      if (value instanceof Integer) out.append(value);
      else if (value instanceof ResolvedTable) named(((ResolvedTable) value).catalog(), ((ResolvedTable) value).identifier(), out);
      else if (value instanceof DataSourceV2Relation) relation((DataSourceV2Relation) value, out);
      else if (value instanceof Identifier) identifier((Identifier) value, new ArrayList(), out);
      else if (value instanceof Literal && ((Literal) value).value() instanceof Boolean) out.append(((Literal) value).value());
      else if (value != null && value.getClass().getName().endsWith(".AlterColumnSpec")) product((scala.Product) value, out);
      else if (value instanceof LogicalPlan || value instanceof Expression) return;
      else if (value instanceof ViewType) text(PlanReader.Walk.simpleName(value.getClass()), out);
      else if (value instanceof scala.collection.Map) map((scala.collection.Map) value, out);
      else if (value instanceof scala.Product && isCatalysts(value)) product((scala.Product) value, out);
    }

    private static boolean isCatalysts(Object value) {
      String name = value.getClass().getName();
      return name.startsWith("scala.Tuple") || name.startsWith("org.apache.spark.sql.catalyst.");
    }

    private void product(scala.Product product, StringBuilder out) {
      begin(product, out);
      out.append('}');
    }

    private void relation(DataSourceV2Relation relation, StringBuilder out) {
      if (relation.catalog().isEmpty() || relation.identifier().isEmpty()) return;
      named((CatalogPlugin) relation.catalog().get(), (Identifier) relation.identifier().get(), out);
    }

    private void map(scala.collection.Map map, StringBuilder out) {
      out.append('{');
      Iterator entries = PlanReader.Walk.javaIterator(map);
      while (entries.hasNext()) {
        scala.Tuple2 entry = (scala.Tuple2) entries.next();
        StringBuilder written = new StringBuilder();
        value(entry._2(), written);
        text(String.valueOf(entry._1()), out.append(out.charAt(out.length() - 1) == '{' ? "" : ","));
        out.append(':').append(written.length() == 0 ? "null" : written.toString());
      }
      out.append('}');
    }
  }

  public static class Analysing extends PlanReader.InSession {
    private final QueryExecution execution;

    Analysing(QueryExecution execution) {
      super(execution.sparkSession(), null);
      this.execution = execution;
    }

    public Object apply() {
      execution.assertAnalyzed();
      return null;
    }
  }

  public static class Optimizing extends PlanReader.InSession {
    private final QueryExecution execution;
    private final boolean open;

    Optimizing(QueryExecution execution, boolean open) {
      super(execution.sparkSession(), null);
      this.execution = execution;
      this.open = open;
    }

    public Object apply() {
      LogicalPlan plan = open ? withOpenParameters() : PlanReader.Query.optimized(execution);
      return new PlanReader.Query(execution, plan, execution.analyzed().output(), null);
    }

    /** While it is optimized, a parameter is a subquery: nobody knows its value before the query runs, Spark or a source. */
    private LogicalPlan withOpenParameters() {
      LogicalPlan analyzed = (LogicalPlan) execution.analyzed().clone();
      LogicalPlan hidden = (LogicalPlan) analyzed.transformAllExpressions(new Hide());
      LogicalPlan optimized = (LogicalPlan) execution.sparkSession().sessionState().optimizer().execute(hidden);
      return (LogicalPlan) optimized.transformAllExpressions(new Show());
    }
  }

  /** A value that is known when the plan runs. */
  public static class DynamicParameter extends LeafExpression implements Unevaluable {
    final String name;
    final int reference;
    final DataType type;
    final boolean nulls;

    public DynamicParameter(String name, int reference, DataType type, boolean nulls) {
      this.name = name;
      this.reference = reference;
      this.type = type;
      this.nulls = nulls;
    }

    public boolean nullable() {
      return nulls;
    }

    public DataType dataType() {
      return type;
    }

    public boolean foldable() {
      return false;
    }

    public Object eval(InternalRow row) {
      throw new UnsupportedOperationException(sql());
    }

    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
      throw new UnsupportedOperationException(sql());
    }

    public String sql() {
      return ":" + name;
    }

    public String toString() {
      return sql();
    }

    public int productArity() {
      return 4;
    }

    public Object productElement(int n) {
      Object[] elements = {name, Integer.valueOf(reference), type, Boolean.valueOf(nulls)};
      return elements[n];
    }

    public String productElementName(int n) {
      String[] names = {"name", "reference", "type", "nulls"};
      return names[n];
    }

    public boolean canEqual(Object other) {
      return other instanceof DynamicParameter;
    }

    public boolean equals(Object other) {
      return other instanceof DynamicParameter && ((DynamicParameter) other).reference == reference;
    }

    public int hashCode() {
      return reference;
    }
  }

  /** Expressions to put in the place of others, in a plan and in those of its subqueries. */
  abstract static class Replacing extends scala.runtime.AbstractPartialFunction {
    /** What comes in the place of an expression; null where it stays. */
    abstract Expression replaced(Object expression);

    public boolean isDefinedAt(Object expression) {
      return expression instanceof SubqueryExpression || replaced(expression) != null;
    }

    public Object applyOrElse(Object expression, scala.Function1 otherwise) {
      Expression found = replaced(expression);
      if (found != null) return found;
      if (!(expression instanceof SubqueryExpression)) return otherwise.apply(expression);
      SubqueryExpression subquery = (SubqueryExpression) expression;
      return subquery.withNewPlan((LogicalPlan) ((LogicalPlan) subquery.plan()).transformAllExpressions(this));
    }
  }

  /** Gives the parameters of a parsed plan their types. */
  public static class Open extends Replacing {
    private final List<DynamicParameter> parameters;
    final List<String> missing = new ArrayList<String>();
    final List<String> ordinals = new ArrayList<String>();
    boolean positional;
    boolean found;

    Open(List<DynamicParameter> parameters) {
      this.parameters = parameters;
    }

    /** The plan, with common table expressions in their places, as analysis would begin, where it has parameters. */
    LogicalPlan plan(LogicalPlan parsed) {
      LogicalPlan opened = (LogicalPlan) CTESubstitution.apply(parsed).transformAllExpressions(this);
      if (!found && !positional) return parsed;
      noteOrdinals(opened);
      return opened;
    }

    /** A whole number by itself, in ORDER BY or GROUP BY, is a column's place. */
    private void noteOrdinals(LogicalPlan plan) {
      if (plan instanceof Sort) {
        Iterator order = PlanReader.Walk.javaIterator(((Sort) plan).order());
        while (order.hasNext()) noteOrdinal(((SortOrder) order.next()).child());
      }
      if (plan instanceof Aggregate) {
        Iterator keys = PlanReader.Walk.javaIterator(((Aggregate) plan).groupingExpressions());
        while (keys.hasNext()) {
          Object key = keys.next();
          noteOrdinal(key);
          Iterator parts = PlanReader.Walk.javaIterator(key instanceof BaseGroupingSets ? ((Expression) key).children() : Nil$.MODULE$);
          while (parts.hasNext()) noteOrdinal(parts.next());
        }
      }
      Iterator below = PlanReader.Walk.javaIterator(plan.children());
      while (below.hasNext()) noteOrdinals((LogicalPlan) below.next());
      Iterator inside = PlanReader.Walk.javaIterator(plan.subqueries());
      while (inside.hasNext()) noteOrdinals((LogicalPlan) inside.next());
    }

    private void noteOrdinal(Object key) {
      if (!(key instanceof DynamicParameter) || !(((DynamicParameter) key).type instanceof IntegerType)) return;
      String name = ((DynamicParameter) key).name;
      if (!ordinals.contains(name)) ordinals.add(name);
    }

    Expression replaced(Object expression) {
      positional |= expression instanceof PosParameter;
      if (!(expression instanceof NamedParameter)) return null;
      found = true;
      String name = ((NamedParameter) expression).name();
      for (int i = 0; i < parameters.size(); i++) {
        if (((DynamicParameter) parameters.get(i)).name.equals(name)) return (Expression) parameters.get(i);
      }
      if (!missing.contains(name)) missing.add(name);
      return null;
    }
  }

  /** Puts subqueries in the place of parameters. */
  public static class Hide extends Replacing {
    Expression replaced(Object expression) {
      if (!(expression instanceof DynamicParameter)) return null;
      DynamicParameter parameter = (DynamicParameter) expression;
      Expression hidden = subquery(LogicalRelation$.MODULE$.apply(new Unknown(parameter), false));
      return parameter.nulls ? hidden : new KnownNotNull(hidden);
    }

    /** A scalar subquery; what else it has by now hangs on the Spark. */
    private static Expression subquery(LogicalPlan plan) {
      Constructor constructor = ScalarSubquery.class.getConstructors()[0];
      Object[] arguments = new Object[constructor.getParameterTypes().length];
      arguments[0] = plan;
      try {
        for (int i = 1; i < arguments.length; i++) {
          arguments[i] = ScalarSubquery.class.getMethod("$lessinit$greater$default$" + (i + 1)).invoke(null);
        }
        return (Expression) constructor.newInstance(arguments);
      } catch (ReflectiveOperationException failed) {
        Platform.throwException(failed);
        return null;
      }
    }
  }

  /** Puts parameters in the place of the subqueries that stood for them. */
  public static class Show extends Replacing {
    Expression replaced(Object expression) {
      Object subquery = expression instanceof KnownNotNull ? ((KnownNotNull) expression).child() : expression;
      if (!(subquery instanceof ScalarSubquery)) return null;
      Iterator leaves = PlanReader.Walk.javaIterator(((ScalarSubquery) subquery).plan().collectLeaves());
      Object leaf = leaves.hasNext() ? leaves.next() : null;
      if (!(leaf instanceof LogicalRelation)) return null;
      BaseRelation relation = ((LogicalRelation) leaf).relation();
      return relation instanceof Unknown ? ((Unknown) relation).parameter : null;
    }
  }

  /** The source of a value that nobody knows yet. */
  public static class Unknown extends BaseRelation {
    final DynamicParameter parameter;

    Unknown(DynamicParameter parameter) {
      this.parameter = parameter;
    }

    public SQLContext sqlContext() {
      return null;
    }

    public StructType schema() {
      return new StructType().add(parameter.name, parameter.type, true);
    }

    public long sizeInBytes() {
      return 8;
    }

    public boolean equals(Object other) {
      return other instanceof Unknown && ((Unknown) other).parameter.equals(parameter);
    }

    public int hashCode() {
      return parameter.hashCode();
    }
  }
}
