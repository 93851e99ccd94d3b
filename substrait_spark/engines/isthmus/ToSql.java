package substrait_spark;

import io.substrait.extension.DefaultExtensionCatalog;
import io.substrait.extension.SimpleExtension;
import io.substrait.isthmus.AutomaticDynamicFunctionMappingConverterProvider;
import io.substrait.isthmus.SubstraitToCalcite;
import io.substrait.isthmus.SubstraitTypeSystem;
import io.substrait.plan.Plan;
import io.substrait.plan.ProtoPlanConverter;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.calcite.avatica.util.ByteString;
import org.apache.calcite.jdbc.CalciteSchema;
import org.apache.calcite.jdbc.JavaTypeFactoryImpl;
import org.apache.calcite.plan.Context;
import org.apache.calcite.plan.Contexts;
import org.apache.calcite.plan.ConventionTraitDef;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.volcano.VolcanoPlanner;
import org.apache.calcite.prepare.CalciteCatalogReader;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Intersect;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Minus;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rel.rel2sql.RelToSqlConverter;
import org.apache.calcite.rel.rel2sql.SqlImplementor;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rel.type.RelDataTypeSystemImpl;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexProgram;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.JoinType;
import org.apache.calcite.sql.SqlAlienSystemTypeNameSpec;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDialect;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlPostfixOperator;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWriter;
import org.apache.calcite.sql.fun.SqlInternalOperators;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.tools.RelBuilder;

/**
 * Makes SQL of plans: Isthmus reads them, Calcite writes their expressions.
 *
 * <p>Arguments are the database, and extension files. Requests are Plan messages, each behind its length; answers tell whether it
 * could be made, and the text of the query or of why not. Compiled by Janino, which Calcite brings.
 */
public class ToSql {

  private static final SqlParserPos POS = SqlParserPos.ZERO;

  public static void main(String[] arguments) throws Exception {
    PrintStream stdout = System.out;
    System.setOut(System.err); // what libraries print is no answer
    SimpleExtension.ExtensionCollection functions = DefaultExtensionCatalog.DEFAULT_COLLECTION;
    for (int n = 1; n < arguments.length; n++) {
      InputStream content = new FileInputStream(arguments[n]);
      functions = functions.merge(SimpleExtension.load(content));
      content.close();
    }
    ToSql converter = new ToSql((SqlDialect) DATABASES.get(arguments[0]), functions);
    DataInputStream requests = new DataInputStream(System.in);
    DataOutputStream answers = new DataOutputStream(stdout);
    while (true) {
      byte[] plan;
      try {
        plan = new byte[requests.readInt()];
      } catch (EOFException end) {
        return;
      }
      requests.readFully(plan);
      String answer;
      boolean made;
      try {
        answer = converter.sql(plan);
        made = true;
      } catch (Exception refusal) {
        answer = String.valueOf(refusal);
        made = false;
      } catch (AssertionError refusal) {
        answer = String.valueOf(refusal);
        made = false;
      } catch (StackOverflowError refusal) {
        answer = "it is nested too deep";
        made = false;
      }
      byte[] text = answer.getBytes("UTF-8");
      answers.writeBoolean(made);
      answers.writeInt(text.length);
      answers.write(text);
      answers.flush();
    }
  }

  private final SqlDialect database;
  private final ProtoPlanConverter reader;
  private final SubstraitToCalcite toCalcite;

  ToSql(SqlDialect database, SimpleExtension.ExtensionCollection functions) {
    this.database = database;
    reader = new ProtoPlanConverter(functions);
    toCalcite = new SubstraitToCalcite(new AsWritten(functions));
  }

  String sql(byte[] message) throws Exception {
    Plan plan = reader.from(io.substrait.proto.Plan.parseFrom(message));
    Plan.Root root = (Plan.Root) plan.getRoots().get(0);
    RelNode relation = toCalcite.convert(root.getInput());
    if (root.getNames().isEmpty()) {
      throw new UnsupportedOperationException("a query without columns has no SQL");
    }
    SqlNode query = new Queries(database).query(relation, root.getNames());
    return query.toSqlString(database).getSql();
  }

  /** Relations as the plan has them: Calcite's builder would simplify what they compute, by rules that hold for its own semantics. */
  static class AsWritten extends AutomaticDynamicFunctionMappingConverterProvider {
    AsWritten(SimpleExtension.ExtensionCollection functions) {
      super(functions, new JavaTypeFactoryImpl(new Types()));
    }

    public RelBuilder getRelBuilder(CalciteSchema schema) {
      RelBuilder.Config config =
          RelBuilder.Config.DEFAULT
              .withSimplify(false)
              .withSimplifyLimit(false)
              .withSimplifyValues(false)
              .withAggregateUnique(true)
              .withDedupAggregateCalls(false)
              .withPruneInputOfAggregate(false)
              .withPushJoinCondition(false)
              .withBloat(-1);
      return new Builder(
          Contexts.of(config),
          new CalciteCatalogReader(schema, new ArrayList(), getTypeFactory(), getCalciteConnectionConfig()),
          new RexBuilder(getTypeFactory()));
    }
  }

  /** Isthmus's types, with decimals of 38 digits everywhere: Isthmus leaves CASE at 19, which makes DECIMAL(32, 4) a DECIMAL(19, 0). */
  static class Types extends RelDataTypeSystemImpl {
    public int getMaxPrecision(SqlTypeName type) {
      return SubstraitTypeSystem.TYPE_SYSTEM.getMaxPrecision(type);
    }

    public int getDefaultPrecision(SqlTypeName type) {
      return SubstraitTypeSystem.TYPE_SYSTEM.getDefaultPrecision(type);
    }

    public int getMaxScale(SqlTypeName type) {
      return SubstraitTypeSystem.TYPE_SYSTEM.getMaxScale(type);
    }

    public int getMaxNumericPrecision() {
      return getMaxPrecision(SqlTypeName.DECIMAL);
    }

    public int getMaxNumericScale() {
      return getMaxScale(SqlTypeName.DECIMAL);
    }

    public boolean shouldConvertRaggedUnionTypesToVarying() {
      return SubstraitTypeSystem.TYPE_SYSTEM.shouldConvertRaggedUnionTypesToVarying();
    }
  }

  /** Calcite's builder over these types. */
  static class Builder extends RelBuilder {
    Builder(Context config, CalciteCatalogReader tables, RexBuilder expressions) {
      super(config, cluster(expressions), tables);
    }

    private static RelOptCluster cluster(RexBuilder expressions) {
      VolcanoPlanner planner = new VolcanoPlanner();
      planner.addRelTraitDef(ConventionTraitDef.INSTANCE);
      return RelOptCluster.create(planner, expressions);
    }
  }

  /** Rows to select from: a FROM with what it is filtered by, and the columns that it has so far. */
  static class Rows {
    SqlNode from;
    SqlNode where;
    List columns;

    Rows(SqlNode from, List columns) {
      this.from = from;
      this.columns = columns;
    }

    void filter(SqlNode condition) {
      where = where == null ? condition : SqlStdOperatorTable.AND.createCall(POS, where, condition);
    }
  }

  /**
   * Relations as queries. Calcite's own class for it leaves columns without their tables, which then are taken for those of a
   * subquery around or within it; here each table has an alias of its own, and each column says whose it is.
   */
  static class Queries extends RelToSqlConverter {
    private final Words words;
    private int aliases = 0;

    Queries(SqlDialect dialect) {
      super(dialect);
      words = (Words) dialect;
    }

    SqlNode query(RelNode relation) {
      return query(relation, names(relation.getRowType()));
    }

    /** The names of a relation's own columns, by their numbers where some differ by case alone: databases don't tell these apart. */
    private static List names(RelDataType type) {
      List names = type.getFieldNames();
      Set seen = new HashSet();
      List numbered = new ArrayList();
      for (int n = 0; n < names.size(); n++) {
        seen.add(((String) names.get(n)).toLowerCase(Locale.ROOT));
        numbered.add("c" + n);
      }
      return seen.size() == names.size() ? names : numbered;
    }

    SqlNode query(RelNode relation, List names) {
      if (names.size() != relation.getRowType().getFieldCount()) {
        throw new UnsupportedOperationException("columns of nested types are not supported");
      }
      if (relation instanceof SetOp) {
        return united((SetOp) relation, names);
      }
      if (relation instanceof Values) {
        return values((Values) relation, names);
      }
      if (relation instanceof Aggregate) {
        return aggregated((Aggregate) relation, names);
      }
      if (relation instanceof Sort) {
        Rows rows = rows(((Sort) relation).getInput());
        return sorted(rows, rows.columns, (Sort) relation, names);
      }
      if (relation instanceof Project) {
        Project project = (Project) relation;
        RelNode input = project.getInput();
        boolean sorts = input instanceof Sort && !RexOver.containsOver(project.getProjects(), null);
        Rows rows = rows(sorts ? ((Sort) input).getInput() : input);
        List computed = new ArrayList();
        Columns columns = columns(rows.columns);
        for (Iterator each = project.getProjects().iterator(); each.hasNext(); ) {
          computed.add(columns.of((RexNode) each.next()));
        }
        return sorted(rows, computed, sorts ? (Sort) input : null, names);
      }
      Rows rows = rows(relation);
      return sorted(rows, rows.columns, null, names);
    }

    private SqlNode sorted(Rows rows, List selected, Sort sort, List names) {
      SqlNodeList order = null;
      SqlNode offset = null;
      SqlNode fetch = null;
      if (sort != null) {
        Columns columns = columns(rows.columns);
        if (!sort.getCollation().getFieldCollations().isEmpty()) {
          order = new SqlNodeList(POS);
          for (Iterator each = sort.getCollation().getFieldCollations().iterator(); each.hasNext(); ) {
            order.add(columns.toSql((RelFieldCollation) each.next()));
          }
        }
        offset = sort.offset == null ? null : columns.number(sort.offset);
        fetch = sort.fetch == null ? null : columns.number(sort.fetch);
      }
      return select(named(selected, names), rows, null, order, offset, fetch);
    }

    private SqlNode aggregated(Aggregate aggregate, List names) {
      if (aggregate.getGroupSets().size() > 1) {
        throw new UnsupportedOperationException("several groupings are not supported");
      }
      Rows rows = rows(aggregate.getInput());
      Columns columns = columns(rows.columns);
      SqlNodeList keys = new SqlNodeList(POS);
      List selected = new ArrayList();
      for (Iterator each = aggregate.getGroupSet().iterator(); each.hasNext(); ) {
        SqlNode key = columns.field(((Integer) each.next()).intValue());
        keys.add(key);
        selected.add(key);
      }
      for (Iterator each = aggregate.getAggCallList().iterator(); each.hasNext(); ) {
        AggregateCall call = (AggregateCall) each.next();
        selected.add(columns.typed(columns.toSql(call), call.getAggregation().getKind(), call.getType()));
      }
      return select(named(selected, names), rows, keys.size() == 0 ? null : keys, null, null, null);
    }

    private SqlNode united(SetOp relation, List names) {
      SqlOperator operator = relation.all ? SqlStdOperatorTable.UNION_ALL : SqlStdOperatorTable.UNION;
      if (relation instanceof Intersect) {
        operator = relation.all ? SqlStdOperatorTable.INTERSECT_ALL : SqlStdOperatorTable.INTERSECT;
      } else if (relation instanceof Minus) {
        operator = relation.all ? SqlStdOperatorTable.EXCEPT_ALL : SqlStdOperatorTable.EXCEPT;
      }
      SqlNode united = null;
      for (Iterator each = relation.getInputs().iterator(); each.hasNext(); ) {
        // Each is a SELECT of a table: neither an ORDER BY nor another set operation stands beside the operator.
        RelNode input = (RelNode) each.next();
        Rows rows = derived(query(input), names(input.getRowType()));
        SqlNode query = select(named(rows.columns, names), rows, null, null, null, null);
        united = united == null ? query : operator.createCall(POS, united, query);
      }
      return united;
    }

    /** Rows of the plan: their columns are of their types by casts around them, since a literal has none but its own. */
    private SqlNode values(Values relation, List names) {
      List fields = relation.getRowType().getFieldList();
      SqlNodeList written = new SqlNodeList(POS);
      Columns none = columns(new ArrayList());
      for (Iterator row = relation.getTuples().iterator(); row.hasNext(); ) {
        SqlNodeList cells = new SqlNodeList(POS);
        for (Iterator cell = ((List) row.next()).iterator(); cell.hasNext(); ) {
          cells.add(none.of((RexNode) cell.next()));
        }
        if (fields.isEmpty()) {
          cells.add(SqlLiteral.createExactNumeric("1", POS));
        }
        written.add(SqlInternalOperators.ANONYMOUS_ROW.createCall(cells));
      }
      boolean isEmpty = written.size() == 0;
      if (isEmpty) {
        SqlNodeList cells = new SqlNodeList(POS);
        for (int n = 0; n < fields.size(); n++) {
          cells.add(SqlLiteral.createNull(POS));
        }
        written.add(SqlInternalOperators.ANONYMOUS_ROW.createCall(cells));
      }
      String alias = alias();
      List operands = new ArrayList();
      operands.add(SqlStdOperatorTable.VALUES.createCall(written));
      operands.add(new SqlIdentifier(alias, POS));
      List selected = new ArrayList();
      if (fields.isEmpty()) {
        operands.add(new SqlIdentifier("c0", POS));
      }
      for (int n = 0; n < fields.size(); n++) {
        operands.add(new SqlIdentifier("c" + n, POS));
        selected.add(none.cast(column(alias, "c" + n), ((RelDataTypeField) fields.get(n)).getType()));
      }
      Rows rows = new Rows(SqlStdOperatorTable.AS.createCall(POS, operands), new ArrayList());
      if (isEmpty) {
        rows.where = SqlLiteral.createBoolean(false, POS);
      }
      return select(named(selected, names), rows, null, null, null, null);
    }

    private Rows rows(RelNode relation) {
      if (relation instanceof TableScan) {
        SqlIdentifier table = new SqlIdentifier(relation.getTable().getQualifiedName(), POS);
        Rows rows = derived(table, relation.getRowType().getFieldNames());
        for (int n = 0; n < rows.columns.size(); n++) {
          boolean isText = isText(((RelDataTypeField) relation.getRowType().getFieldList().get(n)).getType());
          rows.columns.set(n, isText ? words.text((SqlNode) rows.columns.get(n)) : rows.columns.get(n));
        }
        return rows;
      }
      if (relation instanceof Filter) {
        Filter filter = (Filter) relation;
        Rows rows = rows(filter.getInput());
        rows.filter(columns(rows.columns).of(filter.getCondition()));
        return rows;
      }
      if (relation instanceof Join) {
        Join join = (Join) relation;
        boolean isSemi = join.getJoinType() == JoinRelType.SEMI || join.getJoinType() == JoinRelType.ANTI;
        return isSemi ? matched(join) : joined(join);
      }
      if (relation instanceof Project) {
        List columns = new ArrayList();
        for (Iterator each = ((Project) relation).getProjects().iterator(); each.hasNext(); ) {
          RexNode expression = (RexNode) each.next();
          if (!(expression instanceof RexInputRef)) {
            return derived(query(relation), names(relation.getRowType()));
          }
          columns.add(Integer.valueOf(((RexInputRef) expression).getIndex()));
        }
        if (!columns.isEmpty()) {
          Rows rows = rows(((Project) relation).getInput());
          for (int n = 0; n < columns.size(); n++) {
            columns.set(n, rows.columns.get(((Integer) columns.get(n)).intValue()));
          }
          rows.columns = columns;
          return rows;
        }
      }
      return derived(query(relation), names(relation.getRowType()));
    }

    private Rows joined(Join join) {
      Rows left = rows(join.getLeft());
      if (left.where != null) {
        left = derived(join.getLeft());
      }
      Rows right = rows(join.getRight());
      if (right.where != null || right.from instanceof SqlJoin) {
        right = derived(join.getRight());
      }
      List columns = new ArrayList(left.columns);
      columns.addAll(right.columns);
      SqlNode condition = columns(columns).of(join.getCondition());
      JoinType type = joinType(join.getJoinType());
      SqlNode from =
          new SqlJoin(
              POS,
              left.from,
              SqlLiteral.createBoolean(false, POS),
              type.symbol(POS),
              right.from,
              JoinConditionType.ON.symbol(POS),
              condition);
      return new Rows(from, columns);
    }

    private Rows matched(Join join) {
      Rows left = rows(join.getLeft());
      Rows right = rows(join.getRight());
      List columns = new ArrayList(left.columns);
      columns.addAll(right.columns);
      right.filter(columns(columns).of(join.getCondition()));
      SqlNodeList one = new SqlNodeList(POS);
      one.add(SqlLiteral.createExactNumeric("1", POS));
      SqlNode exists = SqlStdOperatorTable.EXISTS.createCall(POS, select(one, right, null, null, null, null));
      boolean isAnti = join.getJoinType() == JoinRelType.ANTI;
      left.filter(isAnti ? SqlStdOperatorTable.NOT.createCall(POS, exists) : exists);
      return left;
    }

    private Rows derived(RelNode relation) {
      return derived(query(relation), names(relation.getRowType()));
    }

    private Rows derived(SqlNode table, List names) {
      String alias = alias();
      List columns = new ArrayList();
      for (Iterator name = names.iterator(); name.hasNext(); ) {
        columns.add(column(alias, (String) name.next()));
      }
      return new Rows(SqlStdOperatorTable.AS.createCall(POS, table, new SqlIdentifier(alias, POS)), columns);
    }

    private static SqlNode column(String alias, String name) {
      List names = new ArrayList();
      names.add(alias);
      names.add(name);
      return new SqlIdentifier(names, POS);
    }

    private String alias() {
      return "t" + (++aliases);
    }

    private static SqlNodeList named(List selected, List names) {
      SqlNodeList list = new SqlNodeList(POS);
      if (selected.isEmpty()) { // rows that are only counted
        list.add(SqlLiteral.createExactNumeric("1", POS));
      }
      for (int n = 0; n < selected.size(); n++) {
        SqlIdentifier name = new SqlIdentifier((String) names.get(n), POS);
        list.add(SqlStdOperatorTable.AS.createCall(POS, (SqlNode) selected.get(n), name));
      }
      return list;
    }

    private static SqlSelect select(
        SqlNodeList list, Rows rows, SqlNodeList keys, SqlNodeList order, SqlNode offset, SqlNode fetch) {
      return new SqlSelect(
          POS, null, list, rows.from, rows.where, keys, null, null, null, order, offset, fetch, null);
    }

    private Columns columns(List columns) {
      return new Columns(this, columns);
    }
  }

  /** Expressions over the columns of a query. */
  static class Columns extends SqlImplementor.Context {
    private final Queries queries;
    private final List columns;

    Columns(Queries queries, List columns) {
      super(queries.dialect, columns.size());
      this.queries = queries;
      this.columns = columns;
    }

    public SqlNode field(int ordinal) {
      return (SqlNode) columns.get(ordinal);
    }

    public SqlImplementor implementor() {
      return queries;
    }

    SqlNode of(RexNode expression) {
      return toSql(null, expression);
    }

    SqlNode number(RexNode literal) {
      return super.toSql(null, literal);
    }

    /** Values of the types that the plan has: literals and calls that a database gives another type are cast. */
    public SqlNode toSql(RexProgram program, RexNode expression) {
      if (!(expression instanceof RexLiteral)) {
        if (expression.getKind() == SqlKind.CAST && isQuotient(((RexCall) expression).getOperands().get(0))) {
          return cast(super.toSql(program, (RexNode) ((RexCall) expression).getOperands().get(0)), expression.getType());
        }
        if (SqlKind.COMPARISON.contains(expression.getKind())) { // Calcite leaves out casts of texts that are compared
          RexCall call = (RexCall) expression;
          return call.getOperator().createCall(POS, of((RexNode) call.getOperands().get(0)), of((RexNode) call.getOperands().get(1)));
        }
        if (OF_DECIMALS.contains(expression.getKind()) && queries.words.hasTypedDecimals() && isWide((RexCall) expression)) {
          RexCall call = (RexCall) expression;
          RexNode left = (RexNode) call.getOperands().get(0);
          SqlNode wide = ToSql.named("DECIMAL(38, " + left.getType().getScale() + ")", SqlTypeName.DECIMAL);
          SqlNode first = SqlStdOperatorTable.CAST.createCall(POS, of(left), wide);
          return cast(call.getOperator().createCall(POS, first, of((RexNode) call.getOperands().get(1))), call.getType());
        }
        SqlNode made = super.toSql(program, expression);
        if (expression instanceof RexOver) {
          return typed(made, ((RexOver) expression).getAggOperator().getKind(), expression.getType());
        }
        if (CASTS.contains(expression.getKind()) && isText(expression.getType())) {
          RexNode operand = (RexNode) ((RexCall) expression).getOperands().get(0);
          boolean isTyped = queries.words.hasTypedDecimals() || operand.getType().getSqlTypeName() != SqlTypeName.DECIMAL;
          return isTyped ? queries.words.text(made) : cast(cast(of(operand), operand.getType()), expression.getType());
        }
        boolean isSure = !(expression instanceof RexCall) || HAVE_TYPES.contains(expression.getKind());
        return isSure || expression.getType().getSqlTypeName() == SqlTypeName.BOOLEAN ? made : cast(made, expression.getType());
      }
      RexLiteral literal = (RexLiteral) expression;
      SqlTypeName kind = literal.getType().getSqlTypeName();
      if (kind == SqlTypeName.SYMBOL || (!literal.isNull() && AS_WRITTEN.contains(kind))) {
        SqlNode written = super.toSql(program, expression);
        return isText(literal.getType()) ? queries.words.text(written) : written;
      }
      SqlNode value;
      if (!literal.isNull() && (kind == SqlTypeName.VARBINARY || kind == SqlTypeName.BINARY)) {
        value = SqlLiteral.createCharString(queries.words.text((ByteString) literal.getValueAs(ByteString.class)), POS);
      } else if (!literal.isNull() && NAMED_NUMBERS.contains(kind)) {
        value = SqlLiteral.createCharString(String.valueOf(literal.getValueAs(Double.class)), POS);
      } else {
        value = super.toSql(program, expression);
      }
      return cast(value, literal.getType());
    }

    /** The value of an aggregate function in its type. Calcite takes sums for ones of the type of what is added up. */
    SqlNode typed(SqlNode value, SqlKind kind, RelDataType type) {
      if (kind == SqlKind.COUNT || kind == SqlKind.MIN || kind == SqlKind.MAX) {
        return value;
      }
      if (kind == SqlKind.SUM && type.getSqlTypeName() == SqlTypeName.DECIMAL) {
        SqlNode wide = ToSql.named("DECIMAL(38, " + type.getScale() + ")", SqlTypeName.DECIMAL);
        return SqlStdOperatorTable.CAST.createCall(POS, value, wide);
      }
      boolean isWhole = kind == SqlKind.SUM && SqlTypeName.INT_TYPES.contains(type.getSqlTypeName());
      return isWhole ? SqlStdOperatorTable.CAST.createCall(POS, value, ToSql.named("BIGINT", SqlTypeName.BIGINT)) : cast(value, type);
    }

    /** Whether decimals of up to 18 digits give one of more: DuckDB computes it in 18 digits unless an operand has more. */
    private static boolean isWide(RexCall call) {
      RelDataType type = call.getType();
      boolean isWide = type.getSqlTypeName() == SqlTypeName.DECIMAL && type.getPrecision() > 18 && call.getOperands().size() == 2;
      for (Iterator each = call.getOperands().iterator(); isWide && each.hasNext(); ) {
        RelDataType operand = ((RexNode) each.next()).getType();
        isWide = operand.getSqlTypeName() == SqlTypeName.DECIMAL && operand.getPrecision() <= 18;
      }
      return isWide;
    }

    /** Whether it is a quotient of decimals: DuckDB's has more digits than its type in the plan, which an outer cast then keeps. */
    private static boolean isQuotient(Object expression) {
      RexNode value = (RexNode) expression;
      return value.getKind() == SqlKind.DIVIDE && value.getType().getSqlTypeName() == SqlTypeName.DECIMAL;
    }

    SqlNode cast(SqlNode value, RelDataType type) {
      SqlNode cast = SqlStdOperatorTable.CAST.createCall(POS, value, queries.dialect.getCastSpec(type));
      return isText(type) ? queries.words.text(cast) : cast;
    }
  }

  static boolean isText(RelDataType type) {
    return SqlTypeName.CHAR_TYPES.contains(type.getSqlTypeName());
  }

  private static final List AS_WRITTEN =
      Arrays.asList(
          new Object[] {
            SqlTypeName.BOOLEAN, SqlTypeName.INTEGER, SqlTypeName.VARCHAR, SqlTypeName.CHAR, SqlTypeName.DATE, SqlTypeName.TIMESTAMP
          });
  private static final List CASTS = Arrays.asList(new Object[] {SqlKind.CAST, SqlKind.SAFE_CAST});
  private static final List HAVE_TYPES =
      Arrays.asList(new Object[] {SqlKind.CAST, SqlKind.SAFE_CAST, SqlKind.CASE, SqlKind.COALESCE});
  private static final List OF_DECIMALS =
      Arrays.asList(new Object[] {SqlKind.PLUS, SqlKind.MINUS, SqlKind.TIMES});
  private static final List NAMED_NUMBERS =
      Arrays.asList(new Object[] {SqlTypeName.REAL, SqlTypeName.FLOAT, SqlTypeName.DOUBLE});

  /** What databases say in words of their own. */
  interface Words {
    /** A text that compares by its bytes. */
    SqlNode text(SqlNode value);

    /** Bytes as a text that is cast to them. */
    String text(ByteString bytes);

    /** Whether decimals have the digits of their types: computed in 18 unless an operand has more, and written as texts with all of them. */
    boolean hasTypedDecimals();
  }

  private static final Map OPERATORS = new HashMap();

  static {
    OPERATORS.put("BITAND", "&");
    OPERATORS.put("BITNOT", "~");
    OPERATORS.put("BITOR", "|");
    OPERATORS.put("SHIFT_RIGHT", ">>");
    OPERATORS.put("DAYS_AFTER", "+");
  }

  static String name(SqlCall call) {
    return call.getOperator().getName().toUpperCase(Locale.ROOT);
  }

  /** A text with operands in the place of its question marks. */
  static void write(SqlWriter writer, String template, SqlCall call) {
    String[] parts = template.split("\\?", -1);
    for (int n = 0; n < parts.length; n++) {
      if (n > 0) {
        call.operand(call.operandCount() == 1 ? 0 : n - 1).unparse(writer, 0, 0);
      }
      writer.print(n > 0 && parts[n].startsWith(" ") ? parts[n].substring(1) : parts[n]); // the writer has a space there
    }
  }

  /** Calls of operators that Calcite has as functions: whether it was one. */
  static boolean isWrittenAsOperator(SqlWriter writer, SqlCall call) {
    String operator = (String) OPERATORS.get(name(call));
    if (operator != null) {
      write(writer, call.operandCount() == 1 ? "(" + operator + " ?)" : "(? " + operator + " ?)", call);
    }
    return operator != null;
  }

  static class DuckDb extends org.apache.calcite.sql.dialect.DuckDBSqlDialect implements Words {
    DuckDb() {
      super(DEFAULT_CONTEXT);
    }

    public SqlNode text(SqlNode value) {
      return value;
    }

    public String text(ByteString bytes) {
      StringBuilder text = new StringBuilder();
      for (int n = 0; n < bytes.length(); n++) {
        text.append("\\x").append(String.format("%02X", new Object[] {Integer.valueOf(bytes.byteAt(n) & 255)}));
      }
      return text.toString();
    }

    public boolean hasTypedDecimals() {
      return true;
    }

    public SqlNode getCastSpec(RelDataType type) {
      return typeNamed(DUCKDB_TYPES, type);
    }

    public RelFieldCollation.NullDirection defaultNullDirection(RelFieldCollation.Direction direction) {
      return RelFieldCollation.NullDirection.UNSPECIFIED; // so that each ORDER BY says it
    }

    public void unparseCall(SqlWriter writer, SqlCall call, int left, int right) {
      if (call.getKind() == SqlKind.SAFE_CAST) {
        write(writer, "TRY_CAST(? AS ?)", call);
      } else if (!isWrittenAsOperator(writer, call)) {
        super.unparseCall(writer, call, left, right);
      }
    }

    public void quoteStringLiteral(StringBuilder text, String charset, String value) {
      text.append("'").append(value.replace("'", "''")).append("'");
    }
  }

  private static final Map POSTGRESQL_CALLS = new HashMap();

  static {
    // What is not constant: constants are computed before any row is read, in branches that none takes too.
    POSTGRESQL_CALLS.put("ERROR", "CAST(? || LEFT(CAST(RANDOM() AS VARCHAR), 0) AS BIGINT)");
    POSTGRESQL_CALLS.put("LCASE", "LOWER(?)");
    POSTGRESQL_CALLS.put("STDDEV_POP", "STDDEV_POP(?)");
    POSTGRESQL_CALLS.put("STDDEV_SAMP", "STDDEV_SAMP(?)");
    POSTGRESQL_CALLS.put("STRLEN", "OCTET_LENGTH(?)");
    POSTGRESQL_CALLS.put("TRUNC", "TRUNC(?)");
    POSTGRESQL_CALLS.put("UCASE", "UPPER(?)");
    POSTGRESQL_CALLS.put("VAR_POP", "VAR_POP(?)");
    POSTGRESQL_CALLS.put("VAR_SAMP", "VAR_SAMP(?)");
    // The year before the year 1 is 0, and 1 BC there.
    POSTGRESQL_CALLS.put("YEAR", "(EXTRACT(YEAR FROM ?) + CAST(EXTRACT(YEAR FROM ?) < 0 AS INTEGER))");
    // Whole days first: intervals are multiplied by doubles, which hold the microseconds of a day, and not those of ten thousand years.
    POSTGRESQL_CALLS.put(
        "MAKE_TIMESTAMP", "(DATE '1970-01-01' + CAST(? / 86400000000 AS INTEGER) + ? % 86400000000 * INTERVAL '1 MICROSECOND')");
    POSTGRESQL_CALLS.put("MAKE_TIMESTAMPTZ", "(" + POSTGRESQL_CALLS.get("MAKE_TIMESTAMP") + " AT TIME ZONE 'UTC')");
  }

  static class PostgreSql extends org.apache.calcite.sql.dialect.PostgresqlSqlDialect implements Words {
    private static final SqlOperator BY_BYTES = new SqlPostfixOperator("COLLATE \"C\"", SqlKind.OTHER, 100, null, null, null);

    PostgreSql() {
      super(DEFAULT_CONTEXT);
    }

    public SqlNode text(SqlNode value) {
      return BY_BYTES.createCall(POS, value);
    }

    public String text(ByteString bytes) {
      return "\\x" + bytes.toString(16);
    }

    public boolean hasTypedDecimals() {
      return false;
    }

    public SqlNode getCastSpec(RelDataType type) {
      return typeNamed(POSTGRESQL_TYPES, type);
    }

    public RelFieldCollation.NullDirection defaultNullDirection(RelFieldCollation.Direction direction) {
      return RelFieldCollation.NullDirection.UNSPECIFIED;
    }

    public void unparseCall(SqlWriter writer, SqlCall call, int left, int right) {
      String template = (String) POSTGRESQL_CALLS.get(name(call));
      if (template != null) {
        boolean isDistinct = call.getFunctionQuantifier() != null;
        write(writer, isDistinct ? template.replace("(?)", "(DISTINCT ?)") : template, call);
      } else if (call.getKind() == SqlKind.LIKE) { // without an escape, which is the backslash else
        write(writer, "(? " + name(call) + " ? ESCAPE '')", call);
      } else if (call.getKind() == SqlKind.SAFE_CAST) {
        throw new UnsupportedOperationException("PostgreSQL has no casts that give null in the place of an error");
      } else if (!isWrittenAsOperator(writer, call)) {
        super.unparseCall(writer, call, left, right);
      }
    }

    public void quoteStringLiteral(StringBuilder text, String charset, String value) {
      boolean escapes = value.indexOf('\\') >= 0;
      text.append(escapes ? "E'" : "'").append(value.replace("'", "''").replace("\\", "\\\\")).append("'");
    }

    public StringBuilder quoteIdentifier(StringBuilder text, String name) {
      if (name.getBytes(StandardCharsets.UTF_8).length > 63) {
        throw new UnsupportedOperationException("PostgreSQL cuts names of more than 63 bytes, as " + name);
      }
      return super.quoteIdentifier(text, name);
    }
  }

  private static final Map DATABASES = new HashMap();

  static {
    DATABASES.put("duckdb", new DuckDb());
    DATABASES.put("postgresql", new PostgreSql());
  }

  private static final Map TYPES = new HashMap();

  static {
    TYPES.put(SqlTypeName.BOOLEAN, "BOOLEAN");
    TYPES.put(SqlTypeName.SMALLINT, "SMALLINT");
    TYPES.put(SqlTypeName.INTEGER, "INTEGER");
    TYPES.put(SqlTypeName.BIGINT, "BIGINT");
    TYPES.put(SqlTypeName.REAL, "REAL");
    TYPES.put(SqlTypeName.DECIMAL, "DECIMAL");
    TYPES.put(SqlTypeName.VARCHAR, "VARCHAR");
    TYPES.put(SqlTypeName.DATE, "DATE");
    TYPES.put(SqlTypeName.TIMESTAMP, "TIMESTAMP");
    TYPES.put(SqlTypeName.TIMESTAMP_WITH_LOCAL_TIME_ZONE, "TIMESTAMPTZ");
  }

  private static final Map DUCKDB_TYPES = new HashMap(TYPES);

  static {
    DUCKDB_TYPES.put(SqlTypeName.TINYINT, "TINYINT");
    DUCKDB_TYPES.put(SqlTypeName.FLOAT, "DOUBLE");
    DUCKDB_TYPES.put(SqlTypeName.DOUBLE, "DOUBLE");
    DUCKDB_TYPES.put(SqlTypeName.VARBINARY, "BLOB");
  }

  private static final Map POSTGRESQL_TYPES = new HashMap(TYPES);

  static {
    POSTGRESQL_TYPES.put(SqlTypeName.FLOAT, "DOUBLE PRECISION");
    POSTGRESQL_TYPES.put(SqlTypeName.DOUBLE, "DOUBLE PRECISION");
    POSTGRESQL_TYPES.put(SqlTypeName.VARBINARY, "BYTEA");
  }

  static SqlNode typeNamed(Map names, RelDataType type) {
    String name = (String) names.get(type.getSqlTypeName());
    if (name == null) {
      throw new UnsupportedOperationException("there is no type " + type.getFullTypeString());
    }
    if (type.getSqlTypeName() == SqlTypeName.DECIMAL) {
      name = name + "(" + type.getPrecision() + ", " + type.getScale() + ")";
    }
    return ToSql.named(name, type.getSqlTypeName());
  }

  static SqlNode named(String name, SqlTypeName type) {
    return new SqlDataTypeSpec(new SqlAlienSystemTypeNameSpec(name, type, POS), POS);
  }
}
