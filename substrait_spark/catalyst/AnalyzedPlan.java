package substrait_spark;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.unsafe.Platform;

/**
 * The plan of a DataFrame after analysis, with as much of Spark's optimizer as gives it a meaning.
 *
 * <p>Analysis leaves names of things that can't be evaluated, such as functions that stand for others. The rules that
 * resolve these run here one by one, by name, whatever rules the session's settings exclude. Compiled by Janino as
 * PlanReader is, and after it.
 */
public class AnalyzedPlan {
  private static final String CATALYST = "org.apache.spark.sql.catalyst.";
  private static final String SCANS = "org.apache.spark.sql.execution.datasources.v2.V2ScanRelationPushDown$";

  /** The rule that drops names of parts of a query. */
  private static final String UNNAMING = "analysis.EliminateSubqueryAliases$";

  /** Rules in the order in which Spark's optimizer runs them; not every Spark has each. */
  private static final String[] RULES = {
    "optimizer.EliminateResolvedHint$",
    UNNAMING,
    "expressions.EliminatePipeOperators$",
    "analysis.EliminateView$",
    "optimizer.EliminateSQLFunctionNode$",
    "optimizer.ReplaceExpressions$",
    "optimizer.PullOutGroupingExpressions$",
    "optimizer.InsertMapSortInGroupingExpressions$",
    "optimizer.InsertMapSortExpression$",
    "optimizer.InsertMapSortInAggregate$",
    "optimizer.ReplaceCurrentLike",
    "optimizer.SpecialDatetimeValues$",
    "optimizer.RewriteAsOfJoin$",
    "optimizer.ReplaceDeduplicateWithAggregate$",
    "optimizer.RewriteWithExpression$",
    "optimizer.ReplaceUpdateFieldsExpression$",
    // Averages of small decimals are computed in double precision, which in rare ties shows.
    "optimizer.DecimalAggregates$",
  };

  /** The plan, as PlanReader reads it; with the names that a query gives to parts of it, where they are wanted. */
  public PlanReader.Query of(Object dataset, boolean named) throws Exception {
    QueryExecution execution = (QueryExecution) dataset.getClass().getMethod("queryExecution").invoke(dataset);
    return (PlanReader.Query) PlanReader.onDeepStack(new Finishing(execution, named, false));
  }

  /** The plan of what selects from `WHERE false`, without what is below that: of it the columns are left, in a LocalRelation. */
  public PlanReader.Query overSchema(Object dataset) throws Exception {
    QueryExecution execution = (QueryExecution) dataset.getClass().getMethod("queryExecution").invoke(dataset);
    return (PlanReader.Query) PlanReader.onDeepStack(new Finishing(execution, false, true));
  }

  public static class Finishing extends PlanReader.InSession {
    private final QueryExecution execution;
    private final boolean named;
    private final boolean overSchema;
    private final SQLConf settings;

    Finishing(QueryExecution execution, boolean named, boolean overSchema) {
      this(execution, named, overSchema, null);
    }

    /** With the settings that it ran with; null for those that the session has. */
    public Finishing(QueryExecution execution, SQLConf settings) {
      this(execution, false, false, settings);
    }

    private Finishing(QueryExecution execution, boolean named, boolean overSchema, SQLConf settings) {
      super(execution.sparkSession(), settings);
      this.settings = settings;
      this.execution = execution;
      this.named = named;
      this.overSchema = overSchema;
    }

    public Object apply() {
      LogicalPlan analyzed = overSchema ? (LogicalPlan) execution.analyzed().transformDown(new Schema()) : execution.normalized();
      boolean streaming = analyzed.isStreaming();
      LogicalPlan plan = streaming ? analyzed : new Finish(rules(execution, named)).plan(analyzed);
      PlanReader.Query query = new PlanReader.Query(execution, plan, execution.analyzed().output(), settings);
      if (!streaming && plan.containsPattern(TreePattern$.MODULE$.PYTHON_UDF())) noteHandedOn(optimized(), query.handedOn);
      return query;
    }

    /** The plan by whose optimized form Spark calls functions in Python; of an expression by itself, the one over the rows that it is of. */
    private LogicalPlan optimized() {
      if (!overSchema) return PlanReader.Query.optimized(execution);
      LogicalPlan overRows = (LogicalPlan) execution.analyzed().transformDown(new Rows());
      return (LogicalPlan) execution.sparkSession().sessionState().optimizer().execute((LogicalPlan) overRows.clone());
    }

    /**
     * Of an optimized plan the functions in Python whose results Spark gives to another as they are, with the name of the other.
     *
     * <p>It does so with the only argument of a call. Which call gets there may take the optimizer, which merges projects and drops casts.
     */
    private static void noteHandedOn(TreeNode node, Map found) {
      if (!node.containsPattern(TreePattern$.MODULE$.PYTHON_UDF())) return;
      scala.collection.Iterator children = PlanReader.Walk.elements(node.children());
      while (children.hasNext()) {
        Object child = children.next();
        if (node instanceof PythonUDF && child instanceof PythonUDF && node.children().size() == 1) {
          found.put(((PythonUDF) child).func(), ((PythonUDF) node).name());
        }
        noteHandedOn((TreeNode) child, found);
      }
      if (node instanceof PlanExpression) noteHandedOn(((PlanExpression) node).plan(), found);
      if (!(node instanceof LogicalPlan)) return;
      scala.collection.Iterator expressions = PlanReader.Walk.elements(((LogicalPlan) node).expressions());
      while (expressions.hasNext()) noteHandedOn((TreeNode) expressions.next(), found);
    }

    private static Rule[] rules(QueryExecution execution, boolean named) {
      Rule[] rules = new Rule[RULES.length];
      for (int i = 0; i < RULES.length; i++) {
        if (!(named && RULES[i].equals(UNNAMING))) rules[i] = rule(RULES[i], execution);
      }
      return rules;
    }

    private static Rule rule(String name, QueryExecution execution) {
      try {
        Class<?> type = type(CATALYST + name);
        if (!Rule.class.isAssignableFrom(type)) return null;
        if (name.endsWith("$")) return (Rule) type.getField("MODULE$").get(null);
        Constructor<?> constructor = type.getConstructors()[0];
        return (Rule) constructor.newInstance(execution.sparkSession().sessionState().catalogManager());
      } catch (ClassNotFoundException otherSpark) {
        return null;
      } catch (ReflectiveOperationException failed) {
        Platform.throwException(failed);
        return null;
      }
    }

    static Class<?> type(String name) throws ClassNotFoundException {
      return Class.forName(name, true, LogicalPlan.class.getClassLoader());
    }
  }

  /** Runs the rules on a plan, and on the plans of its subqueries. */
  public static class Finish extends scala.runtime.AbstractPartialFunction {
    private final Rule[] rules;

    Finish(Rule[] rules) {
      this.rules = rules;
    }

    LogicalPlan plan(LogicalPlan plan) {
      LogicalPlan found = plan;
      for (int i = 0; i < rules.length; i++) if (rules[i] != null) found = (LogicalPlan) rules[i].apply(found);
      found = (LogicalPlan) found.transformUp(new Scans());
      found = (LogicalPlan) found.transformAllExpressions(new Constants());
      found = (LogicalPlan) found.transformAllExpressions(this);
      return under(plan, found);
    }

    public boolean isDefinedAt(Object expression) {
      return expression instanceof SubqueryExpression;
    }

    public Object applyOrElse(Object expression, scala.Function1 otherwise) {
      if (!isDefinedAt(expression)) return otherwise.apply(expression);
      SubqueryExpression subquery = (SubqueryExpression) expression;
      return subquery.withNewPlan(plan((LogicalPlan) subquery.plan()));
    }

    /** A plan with the columns by the ids that they had: a query around a subquery, or its reader, knows them by these. */
    private static LogicalPlan under(LogicalPlan before, LogicalPlan after) {
      java.util.List columns = new java.util.ArrayList();
      boolean same = true;
      for (int i = 0; i < before.output().size(); i++) {
        Attribute old = (Attribute) before.output().apply(i);
        Attribute now = (Attribute) after.output().apply(i);
        boolean kept = old.exprId().equals(now.exprId());
        same = same && kept;
        scala.collection.immutable.Nil$ none = scala.collection.immutable.Nil$.MODULE$;
        columns.add(kept ? (Object) now : new Alias(now, old.name(), old.exprId(), none, scala.Option.empty(), none));
      }
      return same ? after : new Project(PlanReader.Walk.list(columns), after);
    }
  }

  /**
   * Computes what is constant: of patterns, formats, intervals and numbers of rows, plans have values only.
   *
   * <p>What fails is left for when it runs, and so is what tells the time.
   */
  public static class Constants extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object expression) {
      if (expression instanceof Literal || !((Expression) expression).foldable()) return false;
      return !((Expression) expression).containsPattern(TreePattern$.MODULE$.CURRENT_LIKE());
    }

    public Object applyOrElse(Object expression, scala.Function1 otherwise) {
      if (!isDefinedAt(expression)) return otherwise.apply(expression);
      Expression constant = (Expression) expression;
      try {
        return new Literal(constant.freshCopyIfContainsStatefulExpression().eval(InternalRow.empty()), constant.dataType());
      } catch (Exception left) {
        return constant;
      }
    }
  }

  /** Puts the columns of `WHERE false` in its place. */
  public static class Schema extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object plan) {
      return plan instanceof Filter && Literal.FalseLiteral().equals(((Filter) plan).condition());
    }

    public Object applyOrElse(Object plan, scala.Function1 otherwise) {
      return isDefinedAt(plan) ? LocalRelation$.MODULE$.apply(((LogicalPlan) plan).output()) : otherwise.apply(plan);
    }
  }

  /** Puts what is below `WHERE false` in its place, so that the optimizer finds rows. */
  public static class Rows extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object plan) {
      return plan instanceof Filter && Literal.FalseLiteral().equals(((Filter) plan).condition());
    }

    public Object applyOrElse(Object plan, scala.Function1 otherwise) {
      return isDefinedAt(plan) ? ((Filter) plan).child() : otherwise.apply(plan);
    }
  }

  /** Settles how sources are read, each by itself, so that nothing is pushed into them. */
  public static class Scans extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object plan) {
      return plan instanceof DataSourceV2Relation;
    }

    public Object applyOrElse(Object plan, scala.Function1 otherwise) {
      if (!isDefinedAt(plan)) return otherwise.apply(plan);
      try {
        return ((Rule) Finishing.type(SCANS).getField("MODULE$").get(null)).apply((LogicalPlan) plan);
      } catch (ReflectiveOperationException failed) {
        Platform.throwException(failed);
        return null;
      }
    }
  }
}
