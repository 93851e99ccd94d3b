package substrait_spark;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution;
import org.apache.spark.sql.catalyst.analysis.NamedParameter;
import org.apache.spark.sql.catalyst.analysis.PosParameter;
import org.apache.spark.sql.catalyst.analysis.ViewType;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.KnownNotNull;
import org.apache.spark.sql.catalyst.expressions.LeafExpression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/**
 * Analyses a statement, and runs nothing of it. Its parameters stay open.
 *
 * <p>Compiled by Janino as PlanReader is, and after CommandFields.
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
        return new Statement(state.executePlan(open.plan(parsed), CommandExecutionMode$.MODULE$.SKIP()), open, kind);
      } catch (Exception failed) {
        Platform.throwException(failed);
        return null;
      }
    }
  }

  public static class Statement {
    private final QueryExecution execution;
    private final Open open;
    private final String kind;
    private PlanReader.Query query;

    Statement(QueryExecution execution, Open open, String kind) {
      this.execution = execution;
      this.open = open;
      this.kind = kind;
    }

    /** The class of the statement as it was parsed. */
    public String kind() {
      return kind;
    }

    /** What a command does, as JSON: its class and its fields, as far as they are no plans; a Union of several; null of a query. */
    public String command() throws Exception {
      LogicalPlan plan = execution.analyzed();
      boolean runs = plan instanceof Command || plan instanceof Union && plan.children().head() instanceof Command;
      return runs ? Description.of(plan) : "null";
    }

    /** The query whose rows a command writes, or that a view stands for, as a statement of its own; null without one. */
    public Statement query() {
      Object found = Description.field(execution.analyzed(), QUERIES);
      if (!(found instanceof LogicalPlan)) return null;
      SessionState state = execution.sparkSession().sessionState();
      return new Statement(state.executePlan((LogicalPlan) found, CommandExecutionMode$.MODULE$.SKIP()), open, kind);
    }

    /** A frame without rows, with the columns that a table has, or will have; null where the command doesn't say them. */
    public Object columns() throws Exception {
      StructType schema = Description.schema(execution.analyzed());
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
    static String of(LogicalPlan command) throws Exception {
      StringBuilder out = new StringBuilder();
      new Description().begin((scala.Product) command, out);
      return out.append(",\"marked\":").append(metadata(command)).append('}').toString();
    }

    /** The first of these fields that a plan has. */
    static Object field(LogicalPlan plan, String[] wanted) {
      String[] names = PlanReader.Walk.fieldNames((scala.Product) plan);
      for (int w = 0; w < wanted.length; w++) {
        for (int i = 0; i < names.length; i++) if (names[i].equals(wanted[w])) return ((scala.Product) plan).productElement(i);
      }
      return null;
    }

    /** The metadata of a table's columns, but for comments: what they hold where nothing is said, for one. */
    static String metadata(LogicalPlan command) throws Exception {
      StructType schema = schema(command);
      StringBuilder out = new StringBuilder("[");
      StructField[] fields = schema == null ? new StructField[0] : schema.fields();
      for (int i = 0; i < fields.length; i++) {
        String rest = new MetadataBuilder().withMetadata(fields[i].metadata()).remove("comment").build().json();
        if (rest.equals("{}")) continue;
        PlanReader.Walk.string(fields[i].name(), out.append(out.length() == 1 ? "" : ","));
      }
      return out.append(']').toString();
    }

    static StructType schema(LogicalPlan command) throws Exception {
      Object table = field(command, new String[] {"table", "tableDesc"});
      if (table instanceof CatalogTable) return ((CatalogTable) table).schema();
      if (table instanceof LogicalPlan) return ((LogicalPlan) table).schema();
      try {
        return (StructType) command.getClass().getMethod("tableSchema").invoke(command);
      } catch (NoSuchMethodException none) {
        return null;
      }
    }

    public void other(Object value, StringBuilder out) {
      if (value instanceof Integer) out.append(value);
      else if (value instanceof DataSourceV2Relation) relation((DataSourceV2Relation) value, out);
      else if (value instanceof Identifier) identifier((Identifier) value, new ArrayList(), out);
      else if (value instanceof Literal && ((Literal) value).value() instanceof Boolean) out.append(((Literal) value).value());
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
    boolean positional;
    boolean found;

    Open(List<DynamicParameter> parameters) {
      this.parameters = parameters;
    }

    /** The plan, with common table expressions in their places, as analysis would begin, where it has parameters. */
    LogicalPlan plan(LogicalPlan parsed) {
      LogicalPlan opened = (LogicalPlan) CTESubstitution.apply(parsed).transformAllExpressions(this);
      return found || positional ? opened : parsed;
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
