package substrait_spark;

import io.substrait.extension.DefaultExtensionCatalog;
import io.substrait.extension.SimpleExtension;
import io.substrait.isthmus.AutomaticDynamicFunctionMappingConverterProvider;
import io.substrait.isthmus.SubstraitToCalcite;
import io.substrait.plan.Plan;
import io.substrait.plan.ProtoPlanConverter;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.PrintStream;
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
import org.apache.calcite.plan.Contexts;
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
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWriter;
import org.apache.calcite.sql.fun.SqlInternalOperators;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.tools.Frameworks;
import org.apache.calcite.tools.RelBuilder;

/**
 * Makes SQL of plans: Isthmus reads them, Calcite writes their expressions.
 *
 * <p>Requests are Plan messages, each behind its length; answers tell whether it could be made, and the text of the query or of why
 * not. Compiled by Janino, which Calcite brings.
 */
public class ToSql {

  private static final SqlParserPos POS = SqlParserPos.ZERO;

  public static void main(String[] arguments) throws Exception {
    PrintStream stdout = System.out;
    System.setOut(System.err); // what libraries print is no answer
    SimpleExtension.ExtensionCollection functions = DefaultExtensionCatalog.DEFAULT_COLLECTION;
    for (int n = 0; n < arguments.length; n++) {
      InputStream content = new FileInputStream(arguments[n]);
      functions = functions.merge(SimpleExtension.load(content));
      content.close();
    }
    ToSql converter = new ToSql(functions);
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

  private final ProtoPlanConverter reader;
  private final SubstraitToCalcite toCalcite;

  ToSql(SimpleExtension.ExtensionCollection functions) {
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
    SqlDialect dialect = new DuckDb();
    SqlNode query = new Queries(dialect).query(relation, root.getNames());
    return query.toSqlString(dialect).getSql();
  }

  /** Relations as the plan has them: Calcite's builder would simplify what they compute, by rules that hold for its own semantics. */
  static class AsWritten extends AutomaticDynamicFunctionMappingConverterProvider {
    AsWritten(SimpleExtension.ExtensionCollection functions) {
      super(functions);
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
      return RelBuilder.create(
          Frameworks.newConfigBuilder().defaultSchema(schema.plus()).context(Contexts.of(config)).build());
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
    private int aliases = 0;

    Queries(SqlDialect dialect) {
      super(dialect);
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
        SqlNode type = dialect.getCastSpec(((RelDataTypeField) fields.get(n)).getType());
        selected.add(SqlStdOperatorTable.CAST.createCall(POS, column(alias, "c" + n), type));
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
        return derived(table, relation.getRowType().getFieldNames());
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
        if (OF_DECIMALS.contains(expression.getKind()) && isWide((RexCall) expression)) {
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
        boolean isSure = !(expression instanceof RexCall) || HAVE_TYPES.contains(expression.getKind());
        return isSure || expression.getType().getSqlTypeName() == SqlTypeName.BOOLEAN ? made : cast(made, expression.getType());
      }
      RexLiteral literal = (RexLiteral) expression;
      SqlTypeName kind = literal.getType().getSqlTypeName();
      if (kind == SqlTypeName.SYMBOL || (!literal.isNull() && AS_WRITTEN.contains(kind))) {
        return super.toSql(program, expression);
      }
      SqlNode value;
      if (!literal.isNull() && (kind == SqlTypeName.VARBINARY || kind == SqlTypeName.BINARY)) {
        value = SqlLiteral.createCharString(text((ByteString) literal.getValueAs(ByteString.class)), POS);
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
        return value;
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
      return SqlStdOperatorTable.CAST.createCall(POS, value, queries.dialect.getCastSpec(type));
    }

    /** Bytes as DuckDB reads them: in hexadecimal digits. */
    private String text(ByteString bytes) {
      StringBuilder text = new StringBuilder();
      for (int n = 0; n < bytes.length(); n++) {
        text.append("\\x").append(String.format("%02X", new Object[] {Integer.valueOf(bytes.byteAt(n) & 255)}));
      }
      return text.toString();
    }
  }

  private static final List AS_WRITTEN =
      Arrays.asList(
          new Object[] {
            SqlTypeName.BOOLEAN, SqlTypeName.INTEGER, SqlTypeName.VARCHAR, SqlTypeName.CHAR, SqlTypeName.DATE, SqlTypeName.TIMESTAMP
          });
  private static final List HAVE_TYPES =
      Arrays.asList(new Object[] {SqlKind.CAST, SqlKind.SAFE_CAST, SqlKind.CASE, SqlKind.COALESCE});
  private static final List OF_DECIMALS =
      Arrays.asList(new Object[] {SqlKind.PLUS, SqlKind.MINUS, SqlKind.TIMES});
  private static final List NAMED_NUMBERS =
      Arrays.asList(new Object[] {SqlTypeName.REAL, SqlTypeName.FLOAT, SqlTypeName.DOUBLE});

  private static final Map OPERATORS = new HashMap();

  static {
    OPERATORS.put("BITAND", "&");
    OPERATORS.put("BITNOT", "~");
    OPERATORS.put("BITOR", "|");
    OPERATORS.put("SHIFT_RIGHT", ">>");
    OPERATORS.put("DAYS_AFTER", "+");
  }

  static class DuckDb extends org.apache.calcite.sql.dialect.DuckDBSqlDialect {
    DuckDb() {
      super(DEFAULT_CONTEXT);
    }

    public SqlNode getCastSpec(RelDataType type) {
      return typeNamed(type);
    }

    public RelFieldCollation.NullDirection defaultNullDirection(RelFieldCollation.Direction direction) {
      return RelFieldCollation.NullDirection.UNSPECIFIED; // so that each ORDER BY says it
    }

    public void unparseCall(SqlWriter writer, SqlCall call, int left, int right) {
      if (call.getKind() == SqlKind.SAFE_CAST) {
        writer.print("TRY_CAST");
        SqlWriter.Frame frame = writer.startList("(", ")");
        call.operand(0).unparse(writer, 0, 0);
        writer.sep("AS");
        call.operand(1).unparse(writer, 0, 0);
        writer.endList(frame);
      } else if (OPERATORS.containsKey(call.getOperator().getName().toUpperCase(Locale.ROOT))) {
        SqlWriter.Frame frame = writer.startList("(", ")");
        for (int n = 0; n < call.operandCount(); n++) {
          if (n == call.operandCount() - 1) { // before the last: some have no other
            writer.print((String) OPERATORS.get(call.getOperator().getName().toUpperCase(Locale.ROOT)) + " ");
          }
          call.operand(n).unparse(writer, 0, 0);
        }
        writer.endList(frame);
      } else {
        super.unparseCall(writer, call, left, right);
      }
    }

    public void quoteStringLiteral(StringBuilder text, String charset, String value) {
      text.append("'").append(value.replace("'", "''")).append("'");
    }
  }

  private static final Map DUCKDB_TYPES = new HashMap();

  static {
    DUCKDB_TYPES.put(SqlTypeName.BOOLEAN, "BOOLEAN");
    DUCKDB_TYPES.put(SqlTypeName.TINYINT, "TINYINT");
    DUCKDB_TYPES.put(SqlTypeName.SMALLINT, "SMALLINT");
    DUCKDB_TYPES.put(SqlTypeName.INTEGER, "INTEGER");
    DUCKDB_TYPES.put(SqlTypeName.BIGINT, "BIGINT");
    DUCKDB_TYPES.put(SqlTypeName.REAL, "REAL");
    DUCKDB_TYPES.put(SqlTypeName.FLOAT, "DOUBLE");
    DUCKDB_TYPES.put(SqlTypeName.DOUBLE, "DOUBLE");
    DUCKDB_TYPES.put(SqlTypeName.DECIMAL, "DECIMAL");
    DUCKDB_TYPES.put(SqlTypeName.VARCHAR, "VARCHAR");
    DUCKDB_TYPES.put(SqlTypeName.VARBINARY, "BLOB");
    DUCKDB_TYPES.put(SqlTypeName.DATE, "DATE");
    DUCKDB_TYPES.put(SqlTypeName.TIMESTAMP, "TIMESTAMP");
    DUCKDB_TYPES.put(SqlTypeName.TIMESTAMP_WITH_LOCAL_TIME_ZONE, "TIMESTAMPTZ");
  }

  static SqlNode typeNamed(RelDataType type) {
    String name = (String) DUCKDB_TYPES.get(type.getSqlTypeName());
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
