package substrait_spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.SpecifiedWindowFrame;
import org.apache.spark.sql.catalyst.expressions.SubExprUtils;
import org.apache.spark.sql.catalyst.expressions.TimeZoneAwareExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.WindowFrame;
import org.apache.spark.sql.catalyst.expressions.WindowFunction;
import org.apache.spark.sql.catalyst.expressions.WindowSpecDefinition;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Builds the logical plan that a document describes, and a Dataset of it. document.py describes the document.
 *
 * <p>Compiled by Janino in the user's session, so: no lambdas, no diamond operators, and only classes that every Spark
 * from 3.5 on has. Expressions that a session's settings give a meaning when they are made are made under settings of the
 * plan's own, which are Spark's defaults but for the evaluation mode and the time zone.
 */
public class PlanBuilder {
  /** A Dataset, or a list of problems as JSON: the number of a node and what is wrong with it. */
  public Object build(Object session, String document, List datasets, List functions) throws Exception {
    return new Build(session, (Map) new ObjectMapper().readValue(document, Map.class), datasets, functions).inSession();
  }

  static SQLConf settings(boolean ansi) {
    SQLConf settings = new SQLConf();
    settings.setConfString("spark.sql.ansi.enabled", String.valueOf(ansi));
    settings.setConfString("spark.sql.session.timeZone", "UTC");
    settings.setConfString("spark.sql.caseSensitive", "true");
    settings.setConfString("spark.sql.groupByOrdinal", "false");
    settings.setConfString("spark.sql.orderByOrdinal", "false");
    settings.setConfString("spark.sql.timeType.enabled", "true");
    settings.setConfString("spark.sql.geospatial.enabled", "true");
    return settings;
  }

  /** Work in other settings than the session's. */
  abstract static class Work extends scala.runtime.AbstractFunction0 {
    abstract Object done() throws Exception;

    public Object apply() {
      try {
        return done();
      } catch (Exception failed) {
        org.apache.spark.unsafe.Platform.throwException(failed);
        return null;
      }
    }

    Object under(SQLConf settings) {
      return SQLConf.withExistingConf(settings, this);
    }
  }

  static class Build extends Work {
    private static final String CATALYST = "org.apache.spark.sql.catalyst.";
    private static final String[] PACKAGES = {
      CATALYST + "expressions.", CATALYST + "expressions.aggregate.", CATALYST + "plans.logical.", CATALYST + "plans.",
      CATALYST + "expressions.variant.", "org.apache.spark.sql.execution.stat."
    };
    private static final SQLConf ANSI = settings(true);
    private static final SQLConf LEGACY = settings(false);

    private static final scala.collection.immutable.List NONE = list(new ArrayList<Object>());

    private final Object session;
    private final List nodes;
    private final List typeTexts;
    private final List datasets;
    private final List functions;
    private final Object[] built;
    private final DataType[] types;
    private final List<String> problems = new ArrayList<String>();

    Build(Object session, Map document, List datasets, List functions) {
      this.session = session;
      this.nodes = (List) document.get("nodes");
      this.typeTexts = (List) document.get("types");
      this.datasets = datasets;
      this.functions = functions;
      this.built = new Object[nodes.size()];
      this.types = new DataType[typeTexts.size()];
    }

    /** Runs with the session as the active one, and with settings of the plan's own. */
    Object inSession() throws Exception {
      final Build build = this;
      Work active = new Work() {
        Object done() {
          return build.under(ANSI);
        }
      };
      return unwrapped(session.getClass().getMethod("withActive", scala.Function0.class), session, active);
    }

    Object done() throws Exception {
      for (int index = 0; index < types.length; index++) {
        types[index] = typeOf((String) typeTexts.get(index));
      }
      for (int index = 0; index < built.length; index++) {
        try {
          built[index] = node((List) nodes.get(index));
        } catch (Missing input) {
          built[index] = null; // its own problem is known
        } catch (Throwable failed) {
          if (failed instanceof VirtualMachineError) throw (VirtualMachineError) failed;
          problems.add("[" + index + "," + new ObjectMapper().writeValueAsString(reason(failed)) + "]");
        }
      }
      return problems.isEmpty() ? dataset((LogicalPlan) built[built.length - 1]) : "[" + String.join(",", problems) + "]";
    }

    /** A type, null for one that this Spark lacks: what is made of it is the problem. */
    private static DataType typeOf(String text) {
      try {
        return DataType.fromJson(text);
      } catch (RuntimeException unknown) {
        return null;
      }
    }

    private static String reason(Throwable failed) {
      String message = failed.getMessage();
      return message == null ? failed.getClass().getName() : message.split("\n")[0];
    }

    /** Thrown where what a node is made of could not be made. */
    static class Missing extends Exception {}

    private Object dataset(LogicalPlan plan) throws Exception {
      for (Method method : Class.forName(session.getClass().getName().replace("SparkSession", "Dataset")).getMethods()) {
        if (method.getName().equals("ofRows") && method.getParameterCount() == 2) {
          return unwrapped(method, null, session, plan);
        }
      }
      throw new NoSuchMethodException("Dataset.ofRows");
    }

    private static Object unwrapped(Method method, Object owner, Object... arguments) throws Exception {
      try {
        return method.invoke(owner, arguments);
      } catch (InvocationTargetException wrapped) {
        if (wrapped.getCause() instanceof Error) throw (Error) wrapped.getCause();
        throw (Exception) wrapped.getCause();
      }
    }

    // ---- nodes

    private Object node(List node) throws Exception {
      String kind = (String) node.get(0);
      if (kind.equals("new")) return possible(constructed((String) node.get(1), (List) node.get(2)));
      if (kind.equals("call")) return call(node);
      if (kind.equals("attribute")) return attribute((String) node.get(1), type(node.get(2)), (Boolean) node.get(3));
      if (kind.equals("alias")) return alias((Expression) at(node.get(1)), (String) node.get(2));
      if (kind.equals("typed")) return typed((Expression) at(node.get(1)), type(node.get(2)));
      if (kind.equals("literal")) return new Literal(value(node.get(2), type(node.get(1))), type(node.get(1)));
      if (kind.equals("column")) return ((LogicalPlan) at(node.get(1))).output().apply((Integer) node.get(2));
      if (kind.equals("dataset")) return analyzed(datasets.get((Integer) node.get(1)));
      if (kind.equals("python")) return python(functions.get((Integer) node.get(1)), list(all(node.get(2))));
      if (kind.equals("rows")) return rows(all(node.get(1)), (List) node.get(2));
      if (kind.equals("window")) return window(node);
      throw new IllegalArgumentException("There are no nodes of the kind " + kind + ".");
    }

    /** What was made, unless it is a cast that Spark doesn't have. */
    private static Object possible(Object made) {
      if (!(made instanceof Cast)) return made;
      Cast cast = (Cast) made;
      if (cast.resolved() || !cast.childrenResolved()) return cast;
      String source = cast.child().dataType().simpleString();
      throw new IllegalArgumentException("Spark has no cast of " + source + " to " + cast.dataType().simpleString());
    }

    private DataType type(Object number) {
      DataType found = types[(Integer) number];
      if (found == null) throw new IllegalArgumentException("this Spark has no type " + typeTexts.get((Integer) number));
      return found;
    }

    private static Attribute attribute(String name, DataType type, boolean nullable) {
      return new AttributeReference(name, type, nullable, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), NONE);
    }

    private static Alias alias(Expression value, String name) {
      return new Alias(value, name, NamedExpression$.MODULE$.newExprId(), NONE, scala.Option.empty(), NONE);
    }

    private Object at(Object number) throws Missing {
      Object found = built[(Integer) number];
      if (found == null) throw new Missing();
      return found;
    }

    private static LogicalPlan analyzed(Object dataset) throws Exception {
      return ((QueryExecution) dataset.getClass().getMethod("queryExecution").invoke(dataset)).analyzed();
    }

    /** Spark's function of a name, made in an evaluation mode, with the time zone that it is to use. */
    private Object call(List node) throws Exception {
      final String name = (String) node.get(2);
      final List<Object> arguments = all(node.get(3));
      final String zone = (String) node.get(4);
      Work lookup = new Work() {
        Object done() {
          Expression found = (Expression) FunctionRegistry$.MODULE$.builtin().lookupFunction(new FunctionIdentifier(name), (scala.collection.immutable.List) list(arguments));
          return new Settled(zone).settled(found);
        }
      };
      Expression found = (Expression) lookup.under(node.get(1).equals("ANSI") ? ANSI : LEGACY);
      // A subquery with a window is resolved only when Spark analyses the whole.
      if (!found.resolved() && found.childrenResolved()) throw new IllegalArgumentException(unresolved(name, found));
      return found;
    }

    private static String unresolved(String name, Expression found) {
      StringBuilder kinds = new StringBuilder();
      for (int n = 0; n < found.children().size(); n++) {
        Expression child = (Expression) found.children().apply(n);
        kinds.append(n == 0 ? "" : ", ").append(child.resolved() ? child.dataType().simpleString() : "?");
      }
      return "Spark's " + name + " does not take (" + kinds + ")";
    }

    /** What Spark would settle later, by the session's settings of then: replacements and time zones. */
    static class Settled extends scala.runtime.AbstractPartialFunction {
      private final scala.Option zone;

      Settled(String zone) {
        this.zone = scala.Option.apply(zone);
      }

      Expression settled(Expression expression) {
        return (Expression) expression.transformUp(this);
      }

      public boolean isDefinedAt(Object node) {
        return node instanceof RuntimeReplaceable || isWithoutZone(node);
      }

      private static boolean isWithoutZone(Object node) {
        return node instanceof TimeZoneAwareExpression && ((TimeZoneAwareExpression) node).timeZoneId().isEmpty();
      }

      public Object apply(Object node) {
        Object found = node;
        if (isWithoutZone(found)) found = ((TimeZoneAwareExpression) found).withTimeZone((String) zone.get());
        if (found instanceof RuntimeReplaceable) return settled(((RuntimeReplaceable) found).replacement());
        return found;
      }

      public Object applyOrElse(Object node, scala.Function1 otherwise) {
        return isDefinedAt(node) ? apply(node) : otherwise.apply(node);
      }
    }

    /** The expression, cast where it has another type than this, nullability inside left aside. */
    private static Expression typed(Expression expression, DataType type) {
      if (isSame(expression.dataType(), type)) return expression;
      return new Cast(expression, type, scala.Option.apply("UTC"), EvalMode.ANSI());
    }

    private static boolean isSame(DataType left, DataType right) {
      if (left instanceof ArrayType && right instanceof ArrayType) {
        return isSame(((ArrayType) left).elementType(), ((ArrayType) right).elementType());
      }
      if (left instanceof MapType && right instanceof MapType) {
        MapType one = (MapType) left, other = (MapType) right;
        return isSame(one.keyType(), other.keyType()) && isSame(one.valueType(), other.valueType());
      }
      if (!(left instanceof StructType && right instanceof StructType)) return left.equals(right);
      StructField[] ours = ((StructType) left).fields(), theirs = ((StructType) right).fields();
      if (ours.length != theirs.length) return false;
      for (int n = 0; n < ours.length; n++) {
        if (!ours[n].name().equals(theirs[n].name()) || !isSame(ours[n].dataType(), theirs[n].dataType())) return false;
      }
      return true;
    }

    /** A call of a function in Python. */
    private static Object python(Object function, Object arguments) throws Exception {
      for (Method method : function.getClass().getMethods()) {
        if (method.getName().equals("builder") && method.getParameterCount() == 1) return unwrapped(method, function, arguments);
      }
      throw new NoSuchMethodException("this Spark makes calls of functions in Python in another way");
    }

    private LogicalPlan rows(List<Object> columns, List rows) throws Exception {
      List<Object> data = new ArrayList<Object>();
      for (int index = 0; index < rows.size(); index++) {
        Object[] values = new Object[columns.size()];
        for (int n = 0; n < values.length; n++) values[n] = value(((List) rows.get(index)).get(n), ((Attribute) columns.get(n)).dataType());
        data.add(new GenericInternalRow(values));
      }
      return (LogicalPlan) constructed(LocalRelation.class, new Object[] {list(columns), list(data)});
    }

    /** A window function over partition and order, in the frame that it has by itself, else in this one. */
    private Object window(List node) throws Exception {
      Object function = at(node.get(1));
      Object frame = at(node.get(4));
      if (!(function instanceof WindowFunction)) {
        Object[] aggregate = {function, Complete$.MODULE$, false, scala.Option.empty(), NamedExpression$.MODULE$.newExprId()};
        function = constructed(AggregateExpression.class, aggregate);
      } else if (((WindowFunction) function).frame() instanceof SpecifiedWindowFrame) {
        frame = ((WindowFunction) function).frame();
      }
      Object[] parts = {list(all(node.get(2))), list(all(node.get(3))), frame};
      return new WindowExpression((Expression) function, (WindowSpecDefinition) constructed(WindowSpecDefinition.class, parts));
    }

    private List<Object> all(Object numbers) throws Missing {
      List<Object> found = new ArrayList<Object>();
      for (int n = 0; n < ((List) numbers).size(); n++) found.add(at(((List) numbers).get(n)));
      return found;
    }

    private static scala.collection.immutable.List list(List<Object> values) {
      return scala.collection.JavaConverters.asScalaBuffer(values).toList();
    }

    // ---- literals, in Catalyst's internal form

    private static Object value(Object written, DataType type) {
      if (written == null || type instanceof BooleanType) return written;
      if (type instanceof ByteType) return ((Number) written).byteValue();
      if (type instanceof ShortType) return ((Number) written).shortValue();
      if (type instanceof IntegerType || type instanceof DateType || type instanceof YearMonthIntervalType) return written;
      if (type instanceof FloatType) return Float.parseFloat((String) written);
      if (type instanceof DoubleType) return Double.parseDouble((String) written);
      if (type instanceof StringType) return UTF8String.fromString((String) written);
      if (type instanceof BinaryType) return Base64.getDecoder().decode((String) written);
      if (type instanceof DecimalType) return decimal(new BigInteger((String) written), (DecimalType) type);
      if (type instanceof ArrayType) return new GenericArrayData(values((List) written, ((ArrayType) type).elementType()));
      if (type instanceof MapType) return map((List) written, (MapType) type);
      if (type instanceof StructType) return struct((List) written, (StructType) type);
      if (type instanceof CalendarIntervalType) return interval((List) written);
      if (type.typeName().equals("variant")) return variant((List) written);
      return ((Number) written).longValue(); // what counts microseconds or nanoseconds, and 64-bit integers
    }

    /** Of the two parts of its encoding. Spark 3.5 has no such class. */
    private static Object variant(List written) {
      byte[] value = Base64.getDecoder().decode((String) written.get(0)), metadata = Base64.getDecoder().decode((String) written.get(1));
      try {
        return Class.forName("org.apache.spark.unsafe.types.VariantVal").getConstructor(byte[].class, byte[].class).newInstance(value, metadata);
      } catch (ReflectiveOperationException missing) {
        throw new IllegalStateException(missing);
      }
    }

    private static CalendarInterval interval(List written) {
      return new CalendarInterval((Integer) written.get(0), (Integer) written.get(1), ((Number) written.get(2)).longValue());
    }

    private static Decimal decimal(BigInteger unscaled, DecimalType type) {
      return Decimal.apply(new java.math.BigDecimal(unscaled, type.scale()), type.precision(), type.scale());
    }

    private static Object[] values(List written, DataType type) {
      Object[] found = new Object[written.size()];
      for (int n = 0; n < found.length; n++) found[n] = value(written.get(n), type);
      return found;
    }

    private static Object map(List written, MapType type) {
      GenericArrayData keys = new GenericArrayData(values((List) written.get(0), type.keyType()));
      return new ArrayBasedMapData(keys, new GenericArrayData(values((List) written.get(1), type.valueType())));
    }

    private static InternalRow struct(List written, StructType type) {
      Object[] found = new Object[written.size()];
      for (int n = 0; n < found.length; n++) found[n] = value(written.get(n), type.fields()[n].dataType());
      return new GenericInternalRow(found);
    }

    // ---- objects of Catalyst's classes

    private Object constructed(String name, List parts) throws Exception {
      Object[] given = new Object[parts.size()];
      for (int n = 0; n < given.length; n++) given[n] = part(parts.get(n));
      return constructed(named(name), given);
    }

    private Object part(Object part) throws Exception {
      if (part == null) return scala.Option.empty();
      if (part instanceof List) {
        List<Object> found = new ArrayList<Object>();
        for (int n = 0; n < ((List) part).size(); n++) found.add(part(((List) part).get(n)));
        return list(found);
      }
      if (!(part instanceof Map)) return part;
      String kind = (String) ((Map) part).keySet().iterator().next();
      Object what = ((Map) part).get(kind);
      if (kind.equals("node")) return at(what);
      if (kind.equals("type")) return type(what);
      if (kind.equals("ddl")) return DataType.fromDDL((String) what);
      if (kind.equals("object")) return named(what + "$").getField("MODULE$").get(null);
      if (kind.equals("long")) return ((Number) what).longValue();
      if (kind.equals("mode")) return EvalMode.withName((String) what);
      if (kind.equals("join")) return JoinType.apply((String) what);
      if (kind.equals("some")) return scala.Option.apply(part(what));
      if (kind.equals("pair")) return new scala.Tuple2(part(((List) what).get(0)), part(((List) what).get(1)));
      if (kind.equals("outer")) return SubExprUtils.getOuterReferences((LogicalPlan) at(what));
      if (kind.equals("id")) return NamedExpression$.MODULE$.newExprId();
      throw new IllegalArgumentException("There are no parts of the kind " + kind + ".");
    }

    private static Class<?> named(String name) throws ClassNotFoundException {
      for (String each : name.split("[|]")) { // what it is called in several releases
        for (String prefix : PACKAGES) {
          try {
            return Class.forName(prefix + each, true, LogicalPlan.class.getClassLoader());
          } catch (ClassNotFoundException elsewhere) {
            continue;
          }
        }
      }
      throw new ClassNotFoundException("this Spark has no " + name.replace("$", ""));
    }

    /** An object by the constructor that takes these arguments first, and has defaults for others behind them. */
    private static Object constructed(Class<?> type, Object[] given) throws Exception {
      for (Constructor<?> constructor : type.getConstructors()) {
        Class<?>[] wanted = constructor.getParameterTypes();
        if (wanted.length < given.length || !takes(wanted, given)) continue;
        Object[] arguments = java.util.Arrays.copyOf(given, wanted.length);
        try {
          for (int n = given.length; n < wanted.length; n++) {
            arguments[n] = type.getMethod("$lessinit$greater$default$" + (n + 1)).invoke(null);
          }
        } catch (NoSuchMethodException withoutDefault) {
          continue;
        }
        try {
          return constructor.newInstance(arguments);
        } catch (InvocationTargetException wrapped) {
          if (wrapped.getCause() instanceof Exception) throw (Exception) wrapped.getCause();
          throw wrapped;
        }
      }
      throw new NoSuchMethodException("this Spark makes a " + type.getSimpleName() + " of other parts");
    }

    private static boolean takes(Class<?>[] wanted, Object[] given) {
      for (int n = 0; n < given.length; n++) {
        if (wanted[n].isPrimitive() ? !((Class<?>) BOXES.get(wanted[n])).isInstance(given[n]) : !wanted[n].isInstance(given[n])) return false;
      }
      return true;
    }

    private static final java.util.Map<Class<?>, Class<?>> BOXES = new java.util.HashMap<Class<?>, Class<?>>();

    static {
      BOXES.put(int.class, Integer.class);
      BOXES.put(long.class, Long.class);
      BOXES.put(double.class, Double.class);
      BOXES.put(boolean.class, Boolean.class);
    }
  }
}
