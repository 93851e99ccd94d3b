package substrait_spark;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkContext;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.ScalaReflection$;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.aggregate.PivotFirst;
import org.apache.spark.sql.catalyst.plans.logical.BaseEvalPython;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern$;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.datasources.v2.FileScan;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.internal.SessionState$;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Walks the optimized logical plan of a DataFrame, or of a query that ran, inside the JVM and writes it as one compact JSON
 * document.
 *
 * <p>Compiled by Janino in the user's session, so: no lambdas, no diamond operators, and only classes that every
 * Spark from 3.5 on has. The document is described in document.py, which reads it.
 */
public class PlanReader {
  private final Set<String> harmlessOptions;

  public PlanReader(String harmlessOptions) {
    this.harmlessOptions = new HashSet<String>(Arrays.asList(harmlessOptions.split(" ")));
  }

  /** The plan of a Dataset or a kept query: as it is if it is short, else packed, and in parts that are held until they are fetched. */
  public Object read(Object source, int inlineLimit, int listFiles, boolean tablesAsFiles, boolean hints) throws Exception {
    String text = document(source, inlineLimit, listFiles, tablesAsFiles, hints);
    // Py4j escapes backslashes, which would make it longer.
    if (text.length() <= Packed.PART && text.indexOf('\\') < 0) return text;
    Packed packed = new Packed(text);
    return packed.size() == 1 ? (Object) packed.part(0) : packed;
  }

  /** The plan of a Dataset or a kept query, as text. */
  public String document(Object source, int inlineLimit, int listFiles, boolean tablesAsFiles, boolean hints) throws Exception {
    return (String) onDeepStack(new Reading(this, source, inlineLimit, listFiles, tablesAsFiles, hints, null));
  }

  /** The SQL text of the nodes with these numbers, in a document of the same Dataset or kept query. */
  public String describe(Object source, int inlineLimit, int listFiles, boolean tablesAsFiles, String numbers) throws Exception {
    return (String) onDeepStack(new Reading(this, source, inlineLimit, listFiles, tablesAsFiles, false, numbers));
  }

  /** What tells functions of Python apart: a digest of what Python's worker would be sent of one. */
  public static String digest(PythonFunction function) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(command(function));
      return String.format("%064x", new Object[] {new java.math.BigInteger(1, digest.digest())});
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException(missing);
    }
  }

  /** What Python's worker is sent of a function. */
  private static byte[] command(PythonFunction function) {
    byte[] found = new byte[function.command().size()];
    scala.collection.Iterator bytes = function.command().iterator();
    for (int i = 0; bytes.hasNext(); i++) found[i] = ((Byte) bytes.next()).byteValue();
    return found;
  }

  private static QueryExecution queryExecution(Object dataset) throws Exception {
    return (QueryExecution) dataset.getClass().getMethod("queryExecution").invoke(dataset);
  }

  /** Runs on the caller's stack, and where that is too small, on a large one of its own. */
  public static Object onDeepStack(Callable task) throws Exception {
    try {
      return task.call();
    } catch (StackOverflowError shallow) {
      try {
        return started(task).get();
      } catch (ExecutionException failed) {
        Platform.throwException(failed.getCause());
        return null;
      }
    }
  }

  /** Work that has begun in a thread with a large stack of its own. */
  static FutureTask started(Callable work) {
    FutureTask task = new FutureTask(work);
    Thread thread = new Thread(null, task, "substrait-spark-reader", 1L << 30);
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  /** Takes rows in a thread of its own, because Spark forgets a job that comes while it stops: its thread never ends. */
  public static class RowTaking implements Callable {
    private static final long GRACE = 1000; // milliseconds
    private final SparkPlan plan;
    private final int limit;

    RowTaking(SparkPlan plan, int limit) {
      this.plan = plan;
      this.limit = limit;
    }

    InternalRow[] rows(SparkContext context) {
      FutureTask task = started(this);
      while (true) {
        boolean stopped = context.isStopped();
        try {
          return (InternalRow[]) task.get(GRACE, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
          if (stopped) throw new IllegalStateException("The Spark session was stopped.");
        } catch (ExecutionException failed) {
          Platform.throwException(failed.getCause());
        } catch (InterruptedException interrupted) {
          Platform.throwException(interrupted);
        }
      }
    }

    public Object call() {
      return plan.executeTake(limit);
    }
  }

  /** Work in a session, whose configuration types and nullability may ask: the one of now, or another that is given. */
  public abstract static class InSession extends scala.runtime.AbstractFunction0 implements Callable {
    private final Object session;
    private final SQLConf settings;

    public InSession(Object session, SQLConf settings) {
      this.session = session;
      this.settings = settings;
    }

    public Object call() throws Exception {
      return settings == null ? active() : SQLConf$.MODULE$.withExistingConf(settings, new Active(this));
    }

    Object active() throws Exception {
      Method withActive = session.getClass().getMethod("withActive", scala.Function0.class);
      try {
        return withActive.invoke(session, this);
      } catch (java.lang.reflect.InvocationTargetException wrapped) {
        Platform.throwException(wrapped.getCause());
        return null;
      }
    }
  }

  public static class Active extends scala.runtime.AbstractFunction0 {
    private final InSession work;

    Active(InSession work) {
      this.work = work;
    }

    public Object apply() {
      try {
        return work.active();
      } catch (Exception failed) {
        Platform.throwException(failed);
        return null;
      }
    }
  }

  public static class Reading extends InSession {
    private final PlanReader reader;
    private final Object source;
    private final int inlineLimit;
    private final int listFiles;
    private final boolean tablesAsFiles;
    private final boolean hints;
    private final String numbers;

    Reading(PlanReader reader, Object source, int inlineLimit, int listFiles, boolean tablesAsFiles, boolean hints, String numbers) throws Exception {
      super(
          source instanceof Query ? ((Query) source).session : queryExecution(source).sparkSession(),
          source instanceof Query ? ((Query) source).settings : null);
      this.reader = reader;
      this.source = source;
      this.inlineLimit = inlineLimit;
      this.listFiles = listFiles;
      this.tablesAsFiles = tablesAsFiles;
      this.hints = hints;
      this.numbers = numbers;
    }

    public Object apply() {
      Walk walk = new Walk(reader.harmlessOptions, inlineLimit, listFiles, tablesAsFiles, numbers == null, hints);
      String document = walk.document(query());
      return numbers == null ? document : walk.sql(numbers);
    }

    private Query query() {
      if (source instanceof Query) return (Query) source;
      try {
        return Query.of(queryExecution(source));
      } catch (Exception failed) {
        Platform.throwException(failed);
        return null;
      }
    }
  }

  /** A plan to read, and what its meaning hangs on besides. Nothing physical is in it, which would keep what was shuffled. */
  public static class Query {
    private final Object session;
    private final SessionState state;
    private final SparkContext context;
    private final scala.Enumeration.Value mode;
    /** The settings that it ran with; null for those that the session has when it is read. */
    private final SQLConf settings;
    private final boolean streaming;
    /** Whether Spark reads rows of the cache, of which it no longer knows the files. */
    private final boolean cached;
    private final LogicalPlan plan;
    /** The leaves of the plan and of its subqueries, at any depth. */
    private final List sources;
    /** The columns by the names that users see. */
    private final Object shown;
    /** What the indexes of files listed when the query ran, by the leaf that reads them: a later write may refresh them. */
    private final Map<Object, Object> files = new IdentityHashMap<Object, Object>();
    /** The versions of Delta tables that these files are of. */
    private final Map<Object, Object> deltas = new IdentityHashMap<Object, Object>();
    /** Functions in Python whose results go to another as they are, though the plan doesn't show it, and the name of the other. */
    public final Map handedOn = new HashMap();

    /** A plan of an execution's, with the attributes that users see of it. */
    public Query(QueryExecution execution, LogicalPlan plan, Object shown, SQLConf settings) {
      this(execution, plan, shown, settings, !execution.analyzed().isStreaming() && readsCache(sources(execution.withCachedData())));
    }

    private Query(QueryExecution execution, LogicalPlan plan, Object shown, SQLConf settings, boolean cached) {
      this.session = execution.sparkSession();
      this.state = execution.sparkSession().sessionState();
      this.context = execution.sparkSession().sparkContext();
      this.mode = execution.mode();
      this.streaming = execution.analyzed().isStreaming();
      this.cached = cached;
      this.settings = settings;
      this.plan = plan;
      this.sources = sources(plan);
      this.shown = shown;
    }

    /** The optimized plan of an execution, as it is now. */
    static Query of(QueryExecution execution) {
      Query query = new Query(execution, planned(execution), execution.analyzed().output(), null, false);
      return readsCache(query.sources) ? new Query(execution, withoutCache(execution), query.shown, null, true) : query;
    }

    public static LogicalPlan optimized(QueryExecution execution) {
      LogicalPlan plan = planned(execution);
      return readsCache(sources(plan)) ? withoutCache(execution) : plan;
    }

    /** Spark refuses to optimize a streaming query as a batch; all there is to say is that it is one. */
    private static LogicalPlan planned(QueryExecution execution) {
      return execution.analyzed().isStreaming() ? execution.analyzed() : execution.optimizedPlan();
    }

    // ---- plans read from the cache: the user's query is the one below it

    private static boolean readsCache(List sources) {
      for (int i = 0; i < sources.size(); i++) if (sources.get(i) instanceof InMemoryRelation) return true;
      return false;
    }

    private static LogicalPlan withoutCache(QueryExecution execution) {
      LogicalPlan analyzed = execution.normalized();
      return (LogicalPlan) execution.sparkSession().sessionState().optimizer().execute((LogicalPlan) analyzed.clone());
    }

    private static List sources(LogicalPlan plan) {
      List found = new ArrayList();
      add(plan.collectLeaves(), found);
      // Spark looks for subqueries in all expressions, though every plan knows whether there are any.
      if (!plan.containsPattern(TreePattern$.MODULE$.PLAN_EXPRESSION())) return found;
      scala.collection.Iterator subqueries = Walk.elements(plan.subqueriesAll());
      while (subqueries.hasNext()) add(((LogicalPlan) subqueries.next()).collectLeaves(), found);
      return found;
    }

    private static void add(Object leaves, List found) {
      scala.collection.Iterator each = Walk.elements(leaves);
      while (each.hasNext()) found.add(each.next());
    }

    /** Settle now which files it reads. */
    public void keepFiles(boolean tablesAsFiles) {
      for (int i = 0; i < sources.size(); i++) {
        Object leaf = sources.get(i);
        if (leaf instanceof DataSourceV2ScanRelation && Walk.isFileScan(((DataSourceV2ScanRelation) leaf).scan())) {
          files.put(leaf, scanned(leaf, (FileScan) ((DataSourceV2ScanRelation) leaf).scan()));
        } else if (leaf instanceof LogicalRelation && ((LogicalRelation) leaf).relation() instanceof HadoopFsRelation) {
          HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) leaf).relation();
          boolean named = ((LogicalRelation) leaf).catalogTable().isDefined();
          if (named && !tablesAsFiles && Walk.chosen((LogicalRelation) leaf) == null) continue;
          files.put(leaf, read(leaf, relation.location()));
          deltas.put(leaf, DeltaVersion.of(relation.location()));
        }
      }
    }

    /** The files that a leaf reads of an index, by partition. */
    Object read(Object leaf, FileIndex index) {
      scala.collection.immutable.List none = (scala.collection.immutable.List) scala.collection.immutable.List$.MODULE$.empty();
      Object kept = files.get(leaf);
      return kept != null ? kept : index.listFiles(none, none);
    }

    /** The version of a Delta table that a leaf reads; null where it isn't one of a Delta table. */
    DeltaVersion version(Object leaf, FileIndex index) {
      return deltas.containsKey(leaf) ? (DeltaVersion) deltas.get(leaf) : DeltaVersion.of(index);
    }

    /** The files that the scan of a leaf reads, by partition. */
    Object scanned(Object leaf, FileScan scan) {
      Object kept = files.get(leaf);
      return kept != null ? kept : scan.fileIndex().listFiles(scan.partitionFilters().toList(), scan.dataFilters().toList());
    }

    SQLConf configuration() {
      return settings != null ? settings : state.conf();
    }

    Configuration hadoop() {
      return SessionState$.MODULE$.newHadoopConf(context.hadoopConfiguration(), configuration());
    }
  }

  /** A version of a Delta table, as an index of its files has it. */
  static class DeltaVersion {
    private static final String PACKAGE = "org.apache.spark.sql.delta.";
    final String location;
    final Object version;
    /** Whether the query asked for this version, which need not be the table's last one. */
    final boolean isChosen;

    private DeltaVersion(String location, Object version, boolean isChosen) {
      this.location = location;
      this.version = version;
      this.isChosen = isChosen;
    }

    /** Null for indexes that aren't Delta's, and for those of some files of a table alone. */
    static DeltaVersion of(FileIndex index) {
      String name = index.getClass().getName();
      boolean prepared = name.equals(PACKAGE + "stats.PreparedDeltaFileIndex");
      if (!prepared && !name.equals(PACKAGE + "files.TahoeLogFileIndex")) return null;
      Object asked = Walk.call(index, prepared ? "versionScanned" : "versionToUse");
      Object version = Walk.call(prepared ? index : Walk.call(index, "getSnapshot"), "version");
      Object location = Walk.call(Walk.call(index, "deltaLog"), "dataPath");
      if (!(asked instanceof scala.Option) || version == null || location == null) return null;
      return new DeltaVersion(((Path) location).toUri().toString(), version, ((scala.Option) asked).isDefined());
    }
  }

  /** A document, compressed, and in parts: one answer of more than 8,192 characters stalls py4j's socket for 40 ms. */
  public static class Packed {
    static final int PART = 8000;
    /** One for all, because its memory takes as long to clear as a plan to compress. */
    private static final java.util.zip.Deflater FAST = new java.util.zip.Deflater(java.util.zip.Deflater.BEST_SPEED);
    private final String packed;

    Packed(String text) {
      byte[] plain = text.getBytes(StandardCharsets.US_ASCII);
      // Nothing that can't be compressed is longer by more than this.
      byte[] found = new byte[plain.length + plain.length / 1000 + 100];
      int length;
      synchronized (FAST) {
        FAST.setInput(plain);
        FAST.finish();
        length = FAST.deflate(found);
        FAST.reset();
      }
      this.packed = Base64.getEncoder().encodeToString(Arrays.copyOf(found, length));
    }

    public int size() {
      return (packed.length() + PART - 1) / PART;
    }

    public String part(int index) {
      return packed.substring(index * PART, Math.min(packed.length(), (index + 1) * PART));
    }
  }

  /** How objects of a class are written: found once for each class in a JVM. */
  static class Form {
    // Nodes, which have numbers.
    static final int ATTRIBUTE = 0;
    static final int LITERAL = 1;
    static final int PRODUCT = 2;
    static final int IN_SET = 3;
    static final int PIVOT_FIRST = 4;
    static final int LOCAL_RELATION = 5;
    static final int LOGICAL_RDD = 6;
    static final int LOGICAL_RELATION = 7;
    static final int SCAN = 8;
    static final int COMMAND_RESULT = 9;
    static final int CATALOG_TABLE = 10;
    static final int LAST_NODE = CATALOG_TABLE;
    // Other values of fields.
    static final int NONE = 11;
    static final int SOME = 12;
    static final int TYPE = 13;
    static final int NAME = 14;
    static final int TEXT = 15;
    static final int BOOLEAN = 16;
    static final int REAL = 17;
    static final int INTEGER = 18;
    static final int ID = 19;
    static final int OPTIONS = 20;
    static final int SEQUENCE = 21;
    static final int ARRAY = 22;
    static final int JAVA_CLASS = 23;
    static final int ENUM = 24;
    static final int OBJECT = 25;
    static final int OPAQUE = 26;

    private static final Map<Class<?>, Form> KNOWN = new java.util.concurrent.ConcurrentHashMap<Class<?>, Form>();
    private static final String[] ROWS = {"output", "data", "isStreaming"};

    static final Form FILES = new Form(
        HadoopFsRelation.class, "v", new String[] {"partitionSchema", "dataSchema", "fileFormat", "options", "tableFormat", "partitions"});

    final int way;
    /** Of a node, its class as the document has it. */
    final String entry;
    final boolean isExpression;
    /** Whether it has an id, which is in no parameter. */
    final boolean isNamed;
    /** Whether its columns are written, too: a step that computes functions of Python passes on those of its child. */
    final boolean hasOutput;
    /** Whether it calls a function in Python over batches or groups: the types of its inputs' rows and the function are written, too. */
    final boolean isOverRows;
    final boolean isPython;
    /**
     * The parameter that is not written: each call has an id of its own, which would hide that two calls are the same. Two of a function
     * of Python that isn't deterministic are not.
     */
    final int skipped;

    private static final String OVER_ROWS = "(Python)?MapIn(Pandas|Arrow)|FlatMap(Co)?GroupsIn(Pandas|Arrow)";

    static Form of(Object value) {
      Form form = (Form) KNOWN.get(value.getClass());
      if (form == null) {
        form = new Form(value);
        KNOWN.put(value.getClass(), form);
      }
      return form;
    }

    private Form(Class<?> type, String kind, String[] names) {
      this.way = PRODUCT;
      this.entry = entry(type, kind, names, false);
      this.isExpression = false;
      this.isNamed = false;
      this.hasOutput = false;
      this.isOverRows = false;
      this.isPython = false;
      this.skipped = -1;
    }

    private Form(Object value) {
      this.way = way(value);
      this.isExpression = value instanceof Expression;
      this.isNamed = value instanceof NamedExpression && !(value instanceof AttributeReference);
      this.hasOutput = value instanceof BaseEvalPython;
      this.isOverRows = value instanceof LogicalPlan && value.getClass().getSimpleName().matches(OVER_ROWS);
      this.isPython = value instanceof PythonUDF;
      String[] names = way == ATTRIBUTE || way > LAST_NODE ? new String[0] : names(value);
      String kind = isExpression ? "e" : value instanceof LogicalPlan ? "p" : "v";
      this.entry = entry(value.getClass(), kind, names, isNamed);
      this.skipped = way == PRODUCT ? Arrays.asList(names).indexOf("resultId") : -1;
    }

    private static int way(Object value) {
      if (value == scala.None$.MODULE$) return NONE;
      if (value instanceof scala.Some) return SOME;
      if (value instanceof AttributeReference) return ATTRIBUTE;
      if (value instanceof Literal) return LITERAL;
      if (value instanceof InSet) return IN_SET;
      if (value instanceof PivotFirst) return PIVOT_FIRST;
      if (value instanceof LocalRelation) return LOCAL_RELATION;
      if (value instanceof LogicalRDD) return LOGICAL_RDD;
      if (value instanceof LogicalRelation) return LOGICAL_RELATION;
      if (value instanceof DataSourceV2ScanRelation) return SCAN;
      if (value instanceof CommandResult) return COMMAND_RESULT;
      if (value instanceof Expression || value instanceof LogicalPlan) return PRODUCT;
      if (value instanceof DataType) return TYPE;
      if (value instanceof String || value instanceof Character) return NAME;
      if (value instanceof UTF8String) return TEXT;
      if (value instanceof Boolean) return BOOLEAN;
      if (value instanceof Double || value instanceof Float) return REAL;
      if (value instanceof Number && !(value instanceof scala.math.ScalaNumber)) return INTEGER;
      if (value instanceof ExprId) return ID;
      if (value instanceof scala.collection.Map || value instanceof java.util.Map) return OPTIONS;
      if (value instanceof CatalogTable) return CATALOG_TABLE;
      if (value instanceof scala.collection.Iterable) return SEQUENCE;
      if (value instanceof Object[]) return ARRAY;
      if (value instanceof Class) return JAVA_CLASS;
      if (value instanceof Enum) return ENUM;
      if (value.getClass().getName().startsWith("scala.Enumeration")) return NAME;
      if (!isLookedInto(value)) return OPAQUE;
      return ((scala.Product) value).productArity() > 0 ? PRODUCT : OBJECT;
    }

    /** Only Catalyst's own case classes are looked into; what else hangs on a plan may hold anything. */
    private static boolean isLookedInto(Object value) {
      if (!(value instanceof scala.Product) || value instanceof TreeNode) return false;
      String name = value.getClass().getName();
      return name.startsWith("scala.Tuple")
          || (name.startsWith("org.apache.spark.sql.catalyst.") && !name.startsWith("org.apache.spark.sql.catalyst.encoders."));
    }

    private String[] names(Object value) {
      switch (way) {
        case LITERAL: return new String[] {"value"};
        case IN_SET: return new String[] {"child", "hset"};
        case PIVOT_FIRST: return new String[] {"pivotColumn", "valueColumn", "pivotColumnValues"};
        case LOCAL_RELATION: return ROWS;
        case LOGICAL_RDD: return ROWS;
        case LOGICAL_RELATION: return new String[] {"output", "catalogTable", "relation", "statistics", "chosen", "delta"};
        case SCAN: return new String[] {"output", "scan", "files", "iceberg", "remote", "options", "rows"};
        case COMMAND_RESULT: return new String[] {"output", "command", "data", "isStreaming"};
        case CATALOG_TABLE: return new String[] {"identifier", "tableType", "provider"};
      }
      String[] own = Walk.fieldNames((scala.Product) value);
      if (hasOutput) return and(own, new String[] {"output"});
      if (isPython) return and(own, new String[] {"handedOn"});
      return isOverRows ? and(own, new String[] {"inputTypes", "command"}) : own;
    }

    private static String[] and(String[] names, String[] others) {
      String[] found = new String[names.length + others.length];
      System.arraycopy(names, 0, found, 0, names.length);
      System.arraycopy(others, 0, found, names.length, others.length);
      return found;
    }

    private static String entry(Class<?> type, String kind, String[] names, boolean isNamed) {
      StringBuilder entry = new StringBuilder("[");
      Walk.string(Walk.simpleName(type), entry);
      entry.append(",\"").append(kind).append('"');
      for (int i = 0; i < names.length; i++) Walk.string(names[i], entry.append(','));
      return entry.append(isNamed ? ",\"exprId\"]" : "]").toString();
    }
  }

  /** What was last written of a column. Most attributes of a column are alike, though each is an object of its own. */
  static class Column {
    /** Attributes of one id are one column, also where a query writes its name in other letters: its source's, or the first. */
    final String name;
    final int id;
    private DataType type;
    private boolean nullable;
    private Metadata metadata;
    private int number;
    /** Whether it was written only as a part of its source's row, without an entry of its own. */
    private boolean isInRow;

    Column(String name, int id) {
      this.name = name;
      this.id = id;
    }

    boolean isLike(AttributeReference attribute) {
      return type == attribute.dataType() && nullable == attribute.nullable() && metadata == attribute.metadata();
    }

    void written(AttributeReference attribute, int number) {
      this.type = attribute.dataType();
      this.nullable = attribute.nullable();
      this.metadata = attribute.metadata();
      this.number = number;
    }
  }

  /** One walk over one plan. Every entry is written once; equal entries share a number. */
  public static class Walk {
    private static final Map<Class<?>, String[]> NAMES = new java.util.concurrent.ConcurrentHashMap<Class<?>, String[]>();
    private static final Method PRODUCT_ELEMENT_NAME = productElementName(scala.Product.class);

    /** Settings that say what queries mean, most of them by what functions and readers of text do when they run. No secrets. */
    private static final String[] CONFIGURATION = {
      "spark.sql.ansi.enabled",
      "spark.sql.caseSensitive",
      "spark.sql.columnNameOfCorruptRecord",
      "spark.sql.csv.parser.columnPruning.enabled",
      "spark.sql.decimalOperations.allowPrecisionLoss",
      "spark.sql.icu.caseMappings.enabled",
      "spark.sql.json.enableExactStringParsing",
      "spark.sql.json.enablePartialResults",
      "spark.sql.jsonGenerator.ignoreNullFields",
      "spark.sql.legacy.castComplexTypesToString.enabled",
      "spark.sql.legacy.csv.enableDateTimeParsingFallback",
      "spark.sql.legacy.json.allowEmptyString.enabled",
      "spark.sql.legacy.json.enableDateTimeParsingFallback",
      "spark.sql.legacy.nullValueWrittenAsQuotedEmptyStringCsv",
      "spark.sql.legacy.timeParserPolicy",
      "spark.sql.legacy.truncateForEmptyRegexSplit",
      "spark.sql.legacy.useLegacyXMLParser",
      "spark.sql.mapKeyDedupPolicy",
      "spark.sql.parquet.datetimeRebaseModeInRead",
      "spark.sql.parquet.fieldId.read.enabled",
      "spark.sql.parquet.int96TimestampConversion",
      "spark.sql.parquet.int96RebaseModeInRead",
      "spark.sql.session.timeZone",
      "spark.sql.timestampType"
    };

    /** Settings that end recursions. They are told where there are any. */
    private static final String[] RECURSION = {"spark.sql.cteRecursionLevelLimit", "spark.sql.cteRecursionRowLimit"};

    /** Settings by which Spark converts the arguments and results of functions in Python. They are told where they aren't the defaults. */
    private static final String[] PYTHON = {
      "spark.sql.execution.arrow.useLargeVarTypes",
      "spark.sql.execution.pandas.convertToArrowArraySafely",
      "spark.sql.execution.pandas.structHandlingMode",
      "spark.sql.execution.pyspark.binaryAsBytes",
      "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled",
      "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype",
      "spark.sql.legacy.execution.pandas.groupedMap.assignColumnsByName",
      "spark.sql.legacy.execution.pythonUDF.pandas.conversion.enabled"
    };

    /** Metadata of columns of Parquet that are found by numbers. */
    private static final String FIELD_ID = "parquet.field.id";

    /** Metadata of attributes that says where their values come from, or that they are windows to merge. */
    private static final String[] MARKS = {
      "__metadata_col", "__file_source_metadata_col", "__CHAR_VARCHAR_TYPE_STRING", "EXISTS_DEFAULT",
      FIELD_ID, "spark.sessionWindow"
    };

    private static final Metadata NO_METADATA = Metadata.empty();
    private final Set<String> harmlessOptions;
    private final int inlineLimit;
    /** Above so many files, folders that are read as a whole go by a pattern; -1 where all files are listed. */
    private final int listFiles;
    private final boolean tablesAsFiles;
    private final boolean withRows;
    private final boolean hints;
    /** What Spark knows of the rows of plan nodes, by their numbers. */
    private final StringBuilder statistics = new StringBuilder();
    /** The entries that are being written: those of nodes within others come after what is written of the others so far. */
    private final StringBuilder out = new StringBuilder(1024);
    private final StringBuilder classes = new StringBuilder(2048);
    private final StringBuilder types = new StringBuilder(4096);
    private final StringBuilder columns = new StringBuilder(8192);
    private final StringBuilder nodes = new StringBuilder(8192);
    private final Map<Form, Integer> classNumbers = new HashMap<Form, Integer>();
    private final Map<String, Integer> typeNumbers = new HashMap<String, Integer>();
    private final Map<DataType, Integer> seenTypes = new IdentityHashMap<DataType, Integer>();
    private final Map<String, Integer> nodeNumbers = new HashMap<String, Integer>();
    private final Map<Object, Integer> seenNodes = new IdentityHashMap<Object, Integer>();
    private final Map<Long, Column> lastColumns = new HashMap<Long, Column>();
    private final Map<Long, Integer> ids = new HashMap<Long, Integer>();
    private final List numberedColumns = new ArrayList();
    /** How many columns each row has that was written, by the number of the first. */
    private final Map<Integer, Integer> rows = new HashMap<Integer, Integer>();
    private final List numbered = new ArrayList();
    /** Rows by the RDD that they are from: a query may read one several times, and each read is a job. */
    private final Map<Object, InternalRow[]> takenRows = new IdentityHashMap<Object, InternalRow[]>();
    /** What each folder was found to be: the tables of a query often are in one. */
    private final Map<Path, String> tableFormats = new HashMap<Path, String>();
    private Query query;
    private boolean callsPython;

    /** Without rows, nodes have the same numbers, and no Spark job runs. */
    Walk(Set<String> harmlessOptions, int inlineLimit, int listFiles, boolean tablesAsFiles, boolean withRows, boolean hints) {
      this.harmlessOptions = harmlessOptions;
      this.inlineLimit = inlineLimit;
      this.listFiles = listFiles;
      this.tablesAsFiles = tablesAsFiles;
      this.withRows = withRows;
      this.hints = hints;
    }

    String document(Query query) {
      this.query = query;
      // Sources come first, because columns go by the names that they have there.
      for (int i = 0; i < query.sources.size(); i++) node(query.sources.get(i));
      value(query.plan.output());
      String output = out.toString();
      out.setLength(0);
      int root = node(query.plan);
      out.append("{\"spark\":");
      string(org.apache.spark.package$.MODULE$.SPARK_VERSION(), out);
      out.append(",\"configuration\":{");
      SQLConf settings = query.configuration();
      for (int i = 0; i < CONFIGURATION.length; i++) setting(CONFIGURATION[i], setting(settings, CONFIGURATION[i]));
      boolean repeats = classes.indexOf("[\"UnionLoop\",") >= 0;
      for (int i = 0; i < RECURSION.length && repeats; i++) setting(RECURSION[i], setting(settings, RECURSION[i]));
      SQLConf defaults = callsPython ? new SQLConf() : null;
      for (int i = 0; i < PYTHON.length && callsPython; i++) {
        String value = setting(settings, PYTHON[i]);
        if (!value.equals(setting(defaults, PYTHON[i]))) setting(PYTHON[i], value);
      }
      out.setLength(out.length() - 1);
      out.append("},\"statistics\":{").append(statistics);
      out.append("},\"streaming\":").append(query.streaming).append(",\"cached\":").append(query.cached).append(",\"names\":[");
      scala.collection.Iterator shown = elements(query.shown);
      for (boolean first = true; shown.hasNext(); first = false) string(((Attribute) shown.next()).name(), first ? out : out.append(','));
      out.append(']');
      if (!namesFieldsAlike(elements(query.shown), elements(query.plan.output()))) shownTypes(elements(query.shown));
      out.append(",\"output\":").append(output).append(",\"root\":").append(root);
      out.append(",\"classes\":[").append(classes).append("],\"types\":[").append(types);
      return out.append("],\"columns\":[").append(columns).append("],\"nodes\":[").append(nodes).append("]}").toString();
    }

    /** Whether columns have the same types, with the same names of struct fields, as others: an optimized union may have those of its second input. */
    private static boolean namesFieldsAlike(scala.collection.Iterator columns, scala.collection.Iterator others) {
      while (columns.hasNext()) {
        DataType type = ((Attribute) columns.next()).dataType();
        DataType other = ((Attribute) others.next()).dataType();
        if (type != other && !DataType.equalsIgnoreNullability(type, other)) return false;
      }
      return true;
    }

    private void shownTypes(scala.collection.Iterator columns) {
      out.append(",\"shown\":[");
      for (boolean first = true; columns.hasNext(); first = false) {
        int number = type(((Attribute) columns.next()).dataType());
        (first ? out : out.append(',')).append(number);
      }
      out.append(']');
    }

    private void setting(String name, String value) {
      string(name, out);
      string(value, out.append(':'));
      out.append(',');
    }

    /** The value of a setting; empty where it has none, and where this Spark has no such setting. */
    private static String setting(SQLConf settings, String name) {
      String set = settings.isModifiable(name) ? settings.getConfString(name) : null;
      return set == null ? "" : set;
    }

    String sql(String wanted) {
      StringBuilder out = new StringBuilder("[");
      String[] numbers = wanted.split(" ");
      for (int i = 0; i < numbers.length; i++) {
        if (i > 0) out.append(',');
        int number = Integer.parseInt(numbers[i]);
        Object node = number < 0 ? numberedColumns.get(-1 - number) : numbered.get(number);
        String text = null;
        try {
          if (node instanceof Expression) text = ((Expression) node).sql();
        } catch (Exception unprintable) {
          text = null;
        }
        if (text == null) out.append("null");
        else string(text.length() > 1000 ? text.substring(0, 1000) + "…" : text, out);
      }
      return out.append(']').toString();
    }

    // ---- nodes

    private int node(Object object) {
      return node(object, Form.of(object));
    }

    private int node(Object object, Form form) {
      if (form.way == Form.ATTRIBUTE) return column((AttributeReference) object);
      Integer seen = (Integer) seenNodes.get(object);
      if (seen != null) return seen.intValue();
      int start = out.length();
      out.append('[').append(number(form));
      if (form.isExpression) expressionHead((Expression) object);
      out.append(',');
      switch (form.way) {
        case Form.LITERAL: literalEntry((Literal) object); break;
        case Form.IN_SET: inSetEntry((InSet) object); break;
        case Form.PIVOT_FIRST: pivotFirstEntry((PivotFirst) object); break;
        case Form.LOCAL_RELATION: localRelationEntry((LocalRelation) object); break;
        case Form.LOGICAL_RDD: logicalRddEntry((LogicalRDD) object); break;
        case Form.LOGICAL_RELATION: relationEntry((LogicalRelation) object); break;
        case Form.SCAN: scanEntry((DataSourceV2ScanRelation) object); break;
        case Form.COMMAND_RESULT: commandEntry((CommandResult) object); break;
        case Form.CATALOG_TABLE: catalogTableEntry((CatalogTable) object); break;
        default: productEntry((scala.Product) object, form);
      }
      int number = written(object, start);
      seenNodes.put(object, Integer.valueOf(number));
      return number;
    }

    /** The number of the entry that begins at a place of what is being written; equal ones share it. */
    private int written(Object object, int start) {
      String text = taken(start);
      Integer number = (Integer) nodeNumbers.get(text);
      if (number == null) {
        number = Integer.valueOf(numbered.size());
        nodeNumbers.put(text, number);
        numbered.add(object);
        if (nodes.length() > 0) nodes.append(',');
        nodes.append(text);
        if (hints && object instanceof LogicalPlan) noteStatistics((LogicalPlan) object, number.intValue());
      }
      return number.intValue();
    }

    private void noteStatistics(LogicalPlan plan, int number) {
      try {
        Statistics known = plan.stats();
        if (known.rowCount().isEmpty()) return;
        if (statistics.length() > 0) statistics.append(',');
        statistics.append('"').append(number).append("\":[").append(known.rowCount().get()).append(',').append(known.sizeInBytes()).append(']');
      } catch (Exception unknown) {
        // Not all of an analyzed plan can be estimated.
        return;
      }
    }

    private String taken(int start) {
      // Fields end with a comma.
      int end = out.length() - 1;
      if (out.charAt(end) == ',') out.setCharAt(end, ']');
      else out.append(']');
      String text = out.substring(start);
      out.setLength(start);
      return text;
    }

    private void productEntry(scala.Product product, Form form) {
      int arity = product.productArity();
      for (int i = 0; i < arity; i++) {
        if (i == form.skipped && !isDrawn(product)) out.append("null");
        else value(product.productElement(i));
        out.append(',');
      }
      if (form.isNamed) id(((NamedExpression) product).exprId());
      if (form.hasOutput) value(((LogicalPlan) product).output());
      if (form.isOverRows) functionOverRows((LogicalPlan) product);
      if (form.isPython) value(query.handedOn.isEmpty() ? null : query.handedOn.get(((PythonUDF) product).func()));
    }

    private static boolean isDrawn(scala.Product product) {
      return product instanceof PythonUDF && !((PythonUDF) product).udfDeterministic();
    }

    /** Of each input the type of its rows, with names in the letters that the function sees, and what Python's worker is sent of the function. */
    private void functionOverRows(LogicalPlan step) {
      out.append('[');
      scala.collection.Iterator inputs = elements(step.children());
      for (boolean first = true; inputs.hasNext(); first = false) {
        if (!first) out.append(',');
        value(((LogicalPlan) inputs.next()).schema());
      }
      out.append("],");
      scala.collection.Iterator parts = ((scala.Product) step).productIterator();
      while (parts.hasNext()) {
        Object part = parts.next();
        if (part instanceof PythonUDF) {
          string(Base64.getEncoder().encodeToString(command(((PythonUDF) part).func())), out);
          return;
        }
      }
      out.append("null");
    }

    /** Of an expression its type and whether it is nullable, in one number. */
    private void expressionHead(Expression expression) {
      int start = out.length();
      int type = -1;
      boolean nullable = true;
      try {
        type = type(expression.dataType());
        nullable = expression.nullable();
      } catch (Exception untyped) {
        type = -1;
        out.setLength(start);
      } catch (AssertionError unknown) {
        nullable = true; // Spark refuses to say whether the list of an IN subquery is
      }
      out.append(',').append(2 * type + (nullable ? 1 : 0));
    }

    private void id(ExprId id) {
      out.append("{\"i\":").append(number(Long.valueOf(id.id()))).append('}');
    }

    /** Ids in the order in which they are met: Spark gives others each time, and the document of a query is to be the same. */
    private int number(Long id) {
      Integer number = (Integer) ids.get(id);
      if (number == null) ids.put(id, number = Integer.valueOf(ids.size()));
      return number.intValue();
    }

    /** The number of an attribute, which is less than 0; alike ones share it. */
    private int column(AttributeReference attribute) {
      Long id = Long.valueOf(attribute.exprId().id());
      Column column = (Column) lastColumns.get(id);
      if (column == null) {
        column = new Column(attribute.name(), number(id));
        lastColumns.put(id, column);
      } else if (column.isLike(attribute)) return column.number;
      else if (column.isInRow) {
        nodeNumbers.put(columnEntry(column, (AttributeReference) numberedColumns.get(-1 - column.number)), Integer.valueOf(column.number));
        column.isInRow = false;
      }
      String text = columnEntry(column, attribute);
      Integer number = (Integer) nodeNumbers.get(text);
      if (number == null) {
        numberedColumns.add(attribute);
        number = Integer.valueOf(-numberedColumns.size());
        nodeNumbers.put(text, number);
        if (columns.length() > 0) columns.append(',');
        columns.append(text);
      }
      column.written(attribute, number.intValue());
      return column.number;
    }

    private String columnEntry(Column column, AttributeReference attribute) {
      int start = out.length();
      out.append(2 * type(attribute.dataType()) + (attribute.nullable() ? 1 : 0));
      string(column.name, out.append(','));
      marks(attribute, out.append(',').append(column.id).append(",\""));
      String text = out.append('"').substring(start);
      out.setLength(start);
      return text;
    }

    private static void marks(AttributeReference attribute, StringBuilder out) {
      Metadata metadata = attribute.metadata();
      int start = out.length();
      for (int i = 0; i < MARKS.length && metadata != NO_METADATA; i++) {
        if (metadata.contains(MARKS[i])) out.append(out.length() > start ? " " : "").append(MARKS[i]);
      }
      if (!metadata.contains(FIELD_ID) && isNumbered(attribute.dataType())) out.append(out.length() > start ? " " : "").append(FIELD_ID);
    }

    /**
     * The number of the first of a source's columns, where they are written as one row: all that there is to tell of them is the type of the
     * row, and the numbers and ids follow those of the first; 0 where each column is written by itself.
     */
    private int firstOfRow(LogicalRelation relation) {
      Object[] attributes = javaList(relation.output()).toArray();
      if (attributes.length == 0) return 0;
      Column known = (Column) lastColumns.get(Long.valueOf(((AttributeReference) attributes[0]).exprId().id()));
      if (known != null) return isRow(attributes, known.number) ? known.number : 0;
      int firstId = ids.size();
      StringBuilder marks = new StringBuilder();
      for (int i = 0; i < attributes.length; i++) {
        AttributeReference attribute = (AttributeReference) attributes[i];
        marks(attribute, marks);
        if (marks.length() > 0 || number(Long.valueOf(attribute.exprId().id())) != firstId + i) return 0;
      }
      if (columns.length() > 0) columns.append(',');
      columns.append(type(rowType(relation))).append(',').append(attributes.length).append(',').append(firstId).append(",null");
      int first = -numberedColumns.size() - 1;
      for (int i = 0; i < attributes.length; i++) {
        AttributeReference attribute = (AttributeReference) attributes[i];
        Column column = new Column(attribute.name(), firstId + i);
        column.isInRow = true;
        column.written(attribute, first - i);
        lastColumns.put(Long.valueOf(attribute.exprId().id()), column);
        numberedColumns.add(attribute);
      }
      rows.put(Integer.valueOf(first), Integer.valueOf(attributes.length));
      return first;
    }

    /** Whether attributes are the columns of a row that is written already. */
    private boolean isRow(Object[] attributes, int first) {
      Integer width = (Integer) rows.get(Integer.valueOf(first));
      if (width == null || width.intValue() != attributes.length) return false;
      for (int i = 0; i < attributes.length; i++) {
        AttributeReference attribute = (AttributeReference) attributes[i];
        Column column = (Column) lastColumns.get(Long.valueOf(attribute.exprId().id()));
        if (column == null || column.number != first - i || !column.isLike(attribute)) return false;
      }
      return true;
    }

    /** The type of a source's rows; of files, the object that the files' own type is, which is written then once for both. */
    private static StructType rowType(LogicalRelation relation) {
      StructType type = relation.schema();
      if (!(relation.relation() instanceof HadoopFsRelation)) return type;
      StructType stored = ((HadoopFsRelation) relation.relation()).dataSchema();
      return stored.equals(type) ? stored : type;
    }

    /** Whether a field inside of a type has a number in files of Parquet. */
    private static boolean isNumbered(DataType type) {
      if (type instanceof ArrayType) return isNumbered(((ArrayType) type).elementType());
      if (type instanceof MapType) return isNumbered(((MapType) type).keyType()) || isNumbered(((MapType) type).valueType());
      if (!(type instanceof StructType)) return false;
      StructField[] fields = ((StructType) type).fields();
      for (int i = 0; i < fields.length; i++) {
        if (fields[i].metadata().contains(FIELD_ID) || isNumbered(fields[i].dataType())) return true;
      }
      return false;
    }

    private void literalEntry(Literal literal) {
      if (literal.dataType() instanceof ObjectType) value(literal.value());
      else datum(literal.value(), literal.dataType());
    }

    /** The set holds internal values, in no order: they mean what the child's type says. */
    private void inSetEntry(InSet in) {
      out.append(node(in.child())).append(',');
      data(elements(in.hset()), in.child().dataType());
    }

    /** The values to pivot by are internal ones of the pivot column's type. */
    private void pivotFirstEntry(PivotFirst pivot) {
      out.append(node(pivot.pivotColumn())).append(',').append(node(pivot.valueColumn())).append(',');
      data(elements(pivot.pivotColumnValues()), pivot.pivotColumn().dataType());
    }

    private void data(scala.collection.Iterator values, DataType type) {
      out.append("{\"row\":[");
      for (boolean first = true; values.hasNext(); first = false) {
        if (!first) out.append(',');
        datum(values.next(), type);
      }
      out.append("]}");
    }

    // ---- leaves that hold rows or files

    private void localRelationEntry(LocalRelation relation) {
      value(relation.output());
      out.append(',');
      int count = ((scala.collection.Seq) relation.data()).size();
      if (count > inlineLimit) out.append("{\"i\":").append(count).append('}');
      else rows(javaIterator(relation.data()), attributeTypes(relation.output()));
      out.append(',').append(relation.isStreaming());
    }

    private void logicalRddEntry(LogicalRDD relation) {
      value(relation.output());
      out.append(',');
      DataType[] types = attributeTypes(relation.output());
      if (relation.isStreaming()) out.append("null");
      else {
        InternalRow[] taken = withRows ? (InternalRow[]) takenRows.get(relation.rdd()) : new InternalRow[0];
        if (taken == null) {
          SparkPlan plan = query.state.executePlan(relation, query.mode).executedPlan();
          int limit = inlineLimit == Integer.MAX_VALUE ? inlineLimit : inlineLimit + 1;
          taken = new RowTaking(plan, limit).rows(query.context);
          takenRows.put(relation.rdd(), taken);
        }
        if (taken.length > inlineLimit) out.append("{\"i\":").append(taken.length).append('}');
        else rows((Iterator) Arrays.asList(taken).iterator(), types);
      }
      out.append(',').append(relation.isStreaming());
    }

    private static DataType[] attributeTypes(Object output) {
      List types = new ArrayList();
      scala.collection.Iterator attributes = elements(output);
      while (attributes.hasNext()) types.add(((Attribute) attributes.next()).dataType());
      return (DataType[]) types.toArray(new DataType[0]);
    }

    /** Rows of these types; of more than the limit, a number stands in their place that is above it. */
    private void rows(Iterator rows, DataType[] types) {
      for (int i = 0; i < types.length; i++) type(types[i]);
      out.append("{\"row\":[");
      for (boolean first = true; rows.hasNext(); first = false) {
        if (!first) out.append(',');
        row((InternalRow) rows.next(), types);
      }
      out.append("]}");
    }

    /**
     * A table goes by its name unless files are asked for; then there is no need to list them. Where the query chose rows beside
     * the name, it goes by what it is.
     */
    private void relationEntry(LogicalRelation relation) {
      int first = firstOfRow(relation);
      if (first == 0) value(relation.output());
      else out.append("{\"c\":").append(first).append('}');
      out.append(',');
      value(relation.catalogTable());
      out.append(',');
      boolean named = relation.catalogTable().isDefined();
      Object source = relation.relation();
      List chosen = named ? chosen(relation) : null;
      if (named && chosen == null && !(source instanceof HadoopFsRelation) && !isNamed(relation)) chosen = new ArrayList();
      DeltaVersion delta = null;
      if (named && chosen == null && !tablesAsFiles) out.append("null");
      else if (!(source instanceof HadoopFsRelation)) opaque(source);
      else {
        FileIndex index = ((HadoopFsRelation) source).location();
        delta = query.version(relation, index);
        // Where a query reads some files several times, it has one relation of them.
        Integer seen = (Integer) seenNodes.get(source);
        if (seen == null) {
          HadoopFsRelation files = (HadoopFsRelation) source;
          Object format = liveFormat(index, files.fileFormat());
          Object listed = query.read(relation, index);
          seen = Integer.valueOf(files(index, files.dataSchema(), format, files.options(), listed));
          seenNodes.put(source, seen);
        }
        out.append(seen.intValue());
      }
      out.append(',');
      if (named) statistics((CatalogTable) relation.catalogTable().get(), source);
      else out.append("null");
      out.append(',');
      if (chosen == null) out.append("null");
      else names(chosen.iterator());
      out.append(',');
      if (delta == null) out.append("null");
      else {
        string(delta.location, out.append('['));
        out.append(",{\"i\":").append(delta.version).append("}]");
      }
    }

    private void names(Iterator names) {
      out.append('[');
      for (boolean first = true; names.hasNext(); first = false) string(String.valueOf(names.next()), first ? out : out.append(','));
      out.append(']');
    }

    /** Options of reads that choose no rows. */
    private static final List HARMLESS_READ_OPTIONS = Arrays.asList(new Object[] {"path", "serialization.format", "mergeschema"});

    /**
     * What a query asked of a catalog table beside its name: options that the table itself doesn't have, or a version; null
     * where it asked for nothing, or where only the source knows. Hive's tables take no options.
     */
    static List chosen(LogicalRelation relation) {
      CatalogTable table = (CatalogTable) relation.catalogTable().get();
      Object source = relation.relation();
      Object given;
      if (source instanceof HadoopFsRelation) {
        DeltaVersion delta = DeltaVersion.of(((HadoopFsRelation) source).location());
        if (delta != null) return delta.isChosen ? new ArrayList(Arrays.asList(new Object[] {"versionasof"})) : null;
        given = ((HadoopFsRelation) source).options();
      } else if (source.getClass().getName().equals("org.apache.spark.sql.execution.datasources.jdbc.JDBCRelation")) {
        given = call(call(call(source, "jdbcOptions"), "parameters"), "toMap");
      } else return null;
      if (!table.provider().isDefined() || "hive".equalsIgnoreCase((String) table.provider().get())) return null;
      Map<String, Object> own = inSmallLetters(table.storage().properties());
      List found = new ArrayList();
      Iterator<Map.Entry<String, Object>> each = inSmallLetters(given).entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry option = (Map.Entry) each.next();
        if (!HARMLESS_READ_OPTIONS.contains(option.getKey()) && !option.getValue().equals(own.get(option.getKey()))) found.add(option.getKey());
      }
      return found.isEmpty() ? null : found;
    }

    /** Whether a relation is a table of Delta, as it is now. */
    public static boolean isCurrentDelta(Object plan) {
      if (!(plan instanceof LogicalRelation) || !(((LogicalRelation) plan).relation() instanceof HadoopFsRelation)) return false;
      DeltaVersion delta = DeltaVersion.of(((HadoopFsRelation) ((LogicalRelation) plan).relation()).location());
      return delta != null && !delta.isChosen;
    }

    /** Whether a table of Delta computes columns of others. */
    public static boolean hasGeneratedColumns(LogicalRelation relation) {
      Object schema = call(call(((HadoopFsRelation) relation.relation()).location(), "metadata"), "schema");
      return schema instanceof StructType && ((StructType) schema).json().contains("\"delta.generationExpression\"");
    }

    private static Map<String, Object> inSmallLetters(Object options) {
      Map<String, Object> found = new java.util.TreeMap<String, Object>();
      Iterator each = javaIterator(options);
      while (each.hasNext()) {
        scala.Tuple2 option = (scala.Tuple2) each.next();
        found.put(String.valueOf(option._1()).toLowerCase(java.util.Locale.ROOT), option._2());
      }
      return found;
    }

    /** Whether the name of a table means the rows of a source that tells nothing of what it was asked for. */
    private boolean isNamed(LogicalRelation relation) {
      try {
        String name = ((CatalogTable) relation.catalogTable().get()).identifier().quotedString();
        Object table = query.session.getClass().getMethod("table", new Class[] {String.class}).invoke(query.session, new Object[] {name});
        Iterator leaves = javaIterator(queryExecution(table).analyzed().collectLeaves());
        Object leaf = leaves.hasNext() ? leaves.next() : null;
        return leaf instanceof LogicalRelation && ((LogicalRelation) leaf).relation().equals(relation.relation());
      } catch (Exception unknown) {
        return false;
      }
    }

    /** Rows and bytes of a whole table; partition pruning leaves statistics of a part of it, which name no table. */
    private void statistics(CatalogTable table, Object source) {
      boolean whole = table.partitionColumnNames().isEmpty() || source instanceof HadoopFsRelation
          && ((HadoopFsRelation) source).location() instanceof org.apache.spark.sql.execution.datasources.CatalogFileIndex;
      if (!whole || table.stats().isEmpty()) {
        out.append("null");
        return;
      }
      scala.Product known = (scala.Product) table.stats().get();
      Object rows = known.productElement(1) == scala.None$.MODULE$ ? null : ((scala.Option) known.productElement(1)).get();
      out.append("[{\"i\":").append(known.productElement(0)).append("},");
      if (rows == null) out.append("null]");
      else out.append("{\"i\":").append(rows).append("}]");
    }

    /** Of the built-in file sources, the files and partitions that are left; of any other, only what it is. */
    private void scanEntry(DataSourceV2ScanRelation relation) {
      Object scan = relation.scan();
      value(relation.output());
      out.append(',');
      Object wrapped = call(scan, "v1Scan");
      opaque(wrapped == null ? scan : wrapped);
      out.append(',');
      if (!isFileScan(scan) || aggregates(scan)) {
        out.append("null,");
        icebergEntry(scan, relation);
        out.append(',');
        remoteEntry(scan);
        out.append(',');
        names(options(relation));
        out.append(',');
        localEntry(scan, relation);
        return;
      }
      FileScan files = (FileScan) scan;
      Object options = call(scan, "options");
      // Text has all columns, by position, whichever of them are read.
      Object stored = call(scan, "dataSchema");
      StructType data = stored instanceof StructType ? (StructType) stored : files.readDataSchema();
      int number = files(files.fileIndex(), data, scan, options == null ? new HashMap() : options, query.scanned(relation, files));
      out.append(number).append(",null,null,[],null");
    }

    /** The options that a query gives the table of a scan. */
    private static Iterator options(DataSourceV2ScanRelation relation) {
      Object options = call(relation.relation(), "options");
      return options instanceof Map ? ((Map) options).keySet().iterator() : new ArrayList().iterator();
    }

    /** The rows of aggregates that Iceberg computes of what it knows of its files. */
    private void localEntry(Object scan, DataSourceV2ScanRelation relation) {
      DataType[] types = attributeTypes(relation.output());
      boolean known = scan.getClass().getName().equals("org.apache.iceberg.spark.source.SparkLocalScan");
      if (!known || !Arrays.equals(types, fieldTypes(((LocalScan) scan).readSchema()))) {
        out.append("null");
        return;
      }
      List found = Arrays.asList(((LocalScan) scan).rows());
      if (found.size() > inlineLimit) out.append("{\"i\":").append(found.size()).append('}');
      else rows(found.iterator(), types);
    }

    /** Of what stands for something that only a Spark Connect server has: what it is, and its name (Planner.java). */
    private void remoteEntry(Object scan) {
      Object name = call(scan, "remoteName");
      if (name == null) {
        out.append("null");
        return;
      }
      string((String) call(scan, "remoteKind"), out.append('['));
      out.append(',');
      value(name);
      out.append(']');
    }

    /**
     * Of an Iceberg scan of one snapshot: the table's metadata file, the snapshot, the columns, the filters in it, which columns have
     * default values in older files, and which the table has not by the same names; `"schema"` where Spark reads the snapshot with a
     * schema that neither the table nor the snapshot has.
     */
    private void icebergEntry(Object scan, DataSourceV2ScanRelation relation) {
      boolean isBatch = scan.getClass().getName().equals("org.apache.iceberg.spark.source.SparkBatchQueryScan");
      Object planned = isBatch ? field(scan, "scan") : null;
      Object table = field(scan, "table");
      boolean plain = table != null && table.getClass().getName().equals("org.apache.iceberg.BaseTable");
      Object location = plain ? call(call(call(table, "operations"), "current"), "metadataFileLocation") : null;
      Object filters = either(scan, "filterExpressions", "filters");
      // A scan of the rows that were appended in a time has no one snapshot.
      boolean isEmpty = planned == null && isBatch && location != null && call(table, "currentSnapshot") == null;
      if (location == null || !(filters instanceof List) || !isEmpty && !has(planned, "snapshot")) {
        out.append("null");
        return;
      }
      String snapshot = icebergSnapshot(table, call(planned, "snapshot"), either(scan, "expectedSchema", "projection"), isTravelling(scan, relation.relation().table()));
      if (snapshot == null) {
        out.append("\"schema\"");
        return;
      }
      Object columns = relation.relation().output();
      Object expected = either(scan, "expectedSchema", "projection");
      Object source = relation.relation().table();
      Object all = declared(source, "snapshotSchema");
      if (all == null) all = field(source, "schema");
      int start = out.length();
      string(location.toString(), out.append('['));
      string(snapshot, out.append(','));
      out.append(',');
      value(icebergColumns(columns, expected, icebergHas(icebergSchema(table, snapshot), all)));
      out.append(",[");
      Iterator each = ((List) filters).iterator();
      boolean known = true;
      for (boolean first = true; known && each.hasNext(); first = false) {
        if (!first) out.append(',');
        known = icebergPredicate(each.next(), columns);
      }
      out.append("],");
      names(icebergDefaulted(icebergSchema(table, snapshot)).iterator());
      out.append(',');
      names(icebergRenamed(icebergSchema(table, snapshot), call(table, "schema")).iterator());
      out.append(']');
      if (known) return;
      out.setLength(start);
      out.append("null");
    }

    /** The columns that have a default value, or a field that has one, in rows of files that were written before them. */
    public static List icebergDefaulted(Object schema) {
      List found = new ArrayList();
      Iterator fields = icebergFields(schema).iterator();
      while (fields.hasNext()) {
        Object field = fields.next();
        if (icebergHasDefault(field)) found.add(call(field, "name"));
      }
      return found;
    }

    private static boolean icebergHasDefault(Object field) {
      if (call(field, "initialDefault") != null) return true;
      Object type = call(field, "type");
      if (!Boolean.TRUE.equals(call(type, "isNestedType"))) return false;
      Iterator fields = icebergFields(type).iterator();
      while (fields.hasNext()) if (icebergHasDefault(fields.next())) return true;
      return false;
    }

    /** The columns of a snapshot that the table now has by another name or not at all, or a field of which it has so. */
    private static List icebergRenamed(Object snapshot, Object table) {
      List found = new ArrayList();
      Iterator fields = icebergFields(snapshot).iterator();
      while (fields.hasNext()) {
        Object field = fields.next();
        if (!icebergKeeps(table, field)) found.add(call(field, "name"));
      }
      return found;
    }

    private static boolean icebergKeeps(Object struct, Object field) {
      Object kept = icebergField(struct, field);
      if (kept == null) return false;
      Object type = call(field, "type");
      if (!Boolean.TRUE.equals(call(type, "isNestedType"))) return true;
      Iterator fields = icebergFields(type).iterator();
      while (fields.hasNext()) if (!icebergKeeps(call(kept, "type"), fields.next())) return false;
      return true;
    }

    /** The field of a struct that has the name and the number of another's; null without one. */
    private static Object icebergField(Object struct, Object wanted) {
      Iterator fields = icebergFields(struct).iterator();
      while (fields.hasNext()) {
        Object field = fields.next();
        if (call(field, "fieldId").equals(call(wanted, "fieldId"))) return call(field, "name").equals(call(wanted, "name")) ? field : null;
      }
      return null;
    }

    private static boolean isTravelling(Object scan, Object table) {
      return field(table, "timeTravel") != null || field(scan, "snapshotId") != null || field(scan, "asOfTimestamp") != null || field(scan, "tag") != null || field(scan, "branch") != null;
    }

    /**
     * The number of the snapshot to read, whose columns are then those that it was written with; empty for the table as it is, with
     * the columns that it has now; null where Spark reads columns that are neither's.
     */
    private static String icebergSnapshot(Object table, Object snapshot, Object expected, boolean travelling) {
      Object current = call(table, "currentSnapshot");
      Object id = call(snapshot, "snapshotId");
      boolean isNow = (id == null ? current == null : id.equals(call(current, "snapshotId"))) && icebergHas(call(table, "schema"), expected);
      if (isNow && (!travelling || id == null)) return "";
      if (id != null && icebergHas(icebergSchema(table, id.toString()), expected)) return id.toString();
      return isNow ? "" : null;
    }

    /** The columns that a snapshot of this number was written with; those of the table without a number. */
    private static Object icebergSchema(Object table, String number) {
      if (number.isEmpty()) return call(table, "schema");
      Iterator snapshots = ((Iterable) call(table, "snapshots")).iterator();
      while (snapshots.hasNext()) {
        Object snapshot = snapshots.next();
        if (!number.equals(String.valueOf(call(snapshot, "snapshotId")))) continue;
        Object schema = call(snapshot, "schemaId");
        return schema == null ? null : ((Map) call(table, "schemas")).get(schema);
      }
      return null;
    }

    /** The columns of a table that are in the schema that it is read with: all of them, or those that the scan needs. */
    private static Object icebergColumns(Object columns, Object expected, boolean all) {
      if (all) return columns;
      Set<Object> names = new HashSet<Object>();
      List fields = icebergFields(expected);
      for (int i = 0; i < fields.size(); i++) names.add(call(fields.get(i), "name"));
      List found = new ArrayList();
      Iterator each = javaIterator(columns);
      while (each.hasNext()) {
        Attribute attribute = (Attribute) each.next();
        if (names.contains(attribute.name())) found.add(attribute);
      }
      return list(found);
    }

    /** What a method of its own class returns, whoever may call it; null where there is none. */
    private static Object declared(Object target, String name) {
      try {
        Method method = target.getClass().getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(target);
      } catch (Exception missing) {
        return null;
      }
    }

    /** Whether a struct of Iceberg's has all fields of another, at any depth, by the same names, numbers and types. */
    private static boolean icebergHas(Object struct, Object wanted) {
      if (struct == null || wanted == null) return false;
      List each = icebergFields(wanted);
      for (int i = 0; i < each.size(); i++) {
        Object field = icebergField(struct, each.get(i));
        // What a query uses of Iceberg's own columns is refused elsewhere.
        if (field == null && ((String) call(each.get(i), "name")).startsWith("_")) continue;
        if (field == null) return false;
        Object type = call(field, "type");
        Object other = call(each.get(i), "type");
        boolean nested = Boolean.TRUE.equals(call(other, "isNestedType"));
        if (nested ? !type.getClass().equals(other.getClass()) || !icebergHas(type, other) : !type.equals(other)) return false;
      }
      return true;
    }

    private static List icebergFields(Object struct) {
      Object fields = call(struct, Boolean.TRUE.equals(call(struct, "isNestedType")) || struct == null ? "fields" : "columns");
      return fields instanceof List ? (List) fields : new ArrayList();
    }

    private static boolean has(Object target, String method) {
      try {
        return target != null && target.getClass().getMethod(method) != null;
      } catch (NoSuchMethodException missing) {
        return false;
      }
    }

    /** An operation's name and its operands; false where it is not known. Values are in Catalyst's internal form. */
    private boolean icebergPredicate(Object expression, Object columns) {
      Object operation = call(expression, "op");
      if (operation == null) return false;
      string(operation.toString(), out.append('['));
      String[] operands = {"left", "right", "child"};
      boolean known = true;
      for (int i = 0; i < operands.length; i++) {
        Object operand = call(expression, operands[i]);
        if (operand == null) continue;
        out.append(',');
        known = known && icebergPredicate(operand, columns);
      }
      Object term = call(expression, "term");
      if (term != null) {
        known = known && term.getClass().getName().equals("org.apache.iceberg.expressions.NamedReference");
        Object name = call(term, "name");
        string(String.valueOf(name), out.append(','));
        out.append(",{\"row\":[");
        Object literals = call(expression, "literals");
        Iterator each = literals instanceof List ? ((List) literals).iterator() : new ArrayList().iterator();
        for (boolean first = true; each.hasNext(); first = false) {
          if (!first) out.append(',');
          known = icebergValue(call(each.next(), "value"), columnType(columns, name)) && known;
        }
        out.append("]}");
      }
      out.append(']');
      return known;
    }

    private boolean icebergValue(Object value, DataType type) {
      if (value instanceof CharSequence) string(value.toString(), out);
      else if (value instanceof java.math.BigDecimal && type instanceof DecimalType)
        out.append('"').append(((java.math.BigDecimal) value).setScale(((DecimalType) type).scale()).unscaledValue()).append('"');
      else if (type != null && (value instanceof Boolean || value instanceof Number)) out.append(value);
      else return false;
      return true;
    }

    /** The type of a column, or of a field of one: names may hold dots, and no two of a table are the same. */
    private static DataType columnType(Object columns, Object name) {
      Iterator attributes = javaIterator(columns);
      while (attributes.hasNext()) {
        Attribute attribute = (Attribute) attributes.next();
        DataType found = typeWithin(attribute.name(), attribute.dataType(), String.valueOf(name));
        if (found != null) return found;
      }
      return null;
    }

    private static DataType typeWithin(String name, DataType type, String wanted) {
      if (wanted.equals(name)) return type;
      if (!wanted.startsWith(name + ".") || !(type instanceof StructType)) return null;
      StructField[] fields = ((StructType) type).fields();
      for (int i = 0; i < fields.length; i++) {
        DataType found = typeWithin(fields[i].name(), fields[i].dataType(), wanted.substring(name.length() + 1));
        if (found != null) return found;
      }
      return null;
    }

    /** A field that has another name from Iceberg 1.11 on. */
    private static Object either(Object target, String before, String since) {
      Object found = field(target, before);
      return found != null ? found : field(target, since);
    }

    /** A field of an object, whichever of its classes has it; null without one. */
    private static Object field(Object target, String name) {
      for (Class<?> type = target.getClass(); type != null; type = type.getSuperclass()) {
        try {
          Field field = type.getDeclaredField(name);
          field.setAccessible(true);
          return field.get(target);
        } catch (NoSuchFieldException above) {
          continue;
        } catch (Exception hidden) {
          return null;
        }
      }
      return null;
    }

    /** Parquet's format for a Delta table's files, if all that they hold is in the table; else the format itself. */
    private static Object liveFormat(FileIndex index, Object format) {
      if (!format.getClass().getName().equals("org.apache.spark.sql.delta.DeltaParquetFileFormat")) return format;
      Object mapping = call(format, "columnMappingMode");
      if (mapping == null || !mapping.getClass().getName().endsWith("NoMapping$") || !Boolean.FALSE.equals(call(format, "isCDCRead"))) return format;
      // Files that are older than a column's type have another one.
      Object schema = call(call(index, "metadata"), "schema");
      if (schema instanceof StructType && ((StructType) schema).json().contains("\"delta.typeChanges\"")) return format;
      Object none = scala.collection.immutable.List$.MODULE$.empty();
      Method[] methods = index.getClass().getMethods();
      for (int i = 0; i < methods.length; i++) {
        if (!methods[i].getName().equals("matchingFiles") || methods[i].getParameterTypes().length != 2) continue;
        try {
          Iterator files = javaIterator(methods[i].invoke(index, new Object[] {none, none}));
          while (files.hasNext()) if (call(files.next(), "deletionVector") != null) return format;
          return new org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat();
        } catch (ReflectiveOperationException unknown) {
          return format;
        }
      }
      return format;
    }

    static boolean isFileScan(Object scan) {
      return scan instanceof FileScan && scan.getClass().getName().startsWith("org.apache.spark.sql.");
    }

    private static boolean aggregates(Object scan) {
      Object pushed = call(scan, "pushedAggregate");
      return pushed instanceof scala.Option && ((scala.Option) pushed).isDefined();
    }

    /** What a public method without parameters returns; null where there is no such method, or nothing to call it on. */
    public static Object call(Object target, String name) {
      try {
        if (target == null) return null;
        Method method = target.getClass().getMethod(name);
        method.setAccessible(true);
        return method.invoke(target);
      } catch (ReflectiveOperationException missing) {
        return null;
      }
    }

    private int files(FileIndex index, StructType data, Object format, Object options, Object listed) {
      int start = out.length();
      StructType keys = index.partitionSchema();
      out.append('[').append(number(Form.FILES)).append(",{\"t\":").append(type(keys)).append("},{\"t\":").append(type(data)).append("},");
      string(format.getClass().getName() + (byPosition(format) ? " by position" : ""), out);
      out.append(',');
      options(options);
      string(tableFormat(index), out.append(','));
      out.append(",[");
      List partitions = new ArrayList();
      long count = 0;
      scala.collection.Iterator found = elements(listed);
      while (found.hasNext()) {
        scala.Product partition = (scala.Product) found.next();
        partitions.add(partition);
        count += ((scala.collection.Iterable) partition.productElement(1)).size();
      }
      boolean folds = listFiles >= 0 && count > listFiles;
      DataType[] types = fieldTypes(keys);
      for (int i = 0; i < partitions.size(); i++) {
        scala.Product partition = (scala.Product) partitions.get(i);
        out.append(i > 0 ? ",[{\"row\":" : "[{\"row\":");
        row((InternalRow) partition.productElement(0), types);
        out.append("},{\"f\":");
        folders(javaIterator(partition.productElement(1)), folds);
        out.append("}]");
      }
      out.append(']');
      return written(index, start);
    }

    /** Which table format's folder Spark's own file sources read as mere files; empty where it is none. */
    private String tableFormat(FileIndex index) {
      if (!index.getClass().getName().startsWith("org.apache.spark.sql.execution.datasources.")) return "";
      Iterator roots = javaIterator(index.rootPaths());
      while (roots.hasNext()) {
        String found = tableFormat((Path) roots.next());
        if (found.length() > 0) return found;
      }
      return "";
    }

    /** The format of the table that a folder, a partition's folder or a file belongs to. */
    private String tableFormat(Path path) {
      String known = (String) tableFormats.get(path);
      if (known != null) return known;
      String name = path.getName();
      boolean maybeBelow = name.indexOf('=') >= 0 || name.indexOf('.') >= 0;
      String found;
      if (exists(path, "_delta_log")) found = "Delta";
      else if (exists(path, ".hoodie")) found = "Hudi";
      else if (isIceberg(name.equals("data") ? path.getParent() : path)) found = "Iceberg";
      else found = maybeBelow && path.getParent() != null ? tableFormat(path.getParent()) : "";
      tableFormats.put(path, found);
      return found;
    }

    private boolean isIceberg(Path table) {
      if (table == null || !exists(table, "metadata")) return false;
      String[] entries = entries(new Path(table, "metadata"));
      for (int i = 0; entries != null && i < entries.length; i++) if (entries[i].endsWith(".metadata.json")) return true;
      return false;
    }

    private boolean exists(Path folder, String name) {
      if ("file".equals(folder.toUri().getScheme())) return new java.io.File(folder.toUri().getPath(), name).exists();
      try {
        return folder.getFileSystem(query.hadoop()).exists(new Path(folder, name));
      } catch (java.io.IOException unreadable) {
        return false;
      }
    }

    private boolean byPosition(Object format) {
      return format.getClass().getName().contains(".orc.")
          && query.hadoop().getBoolean("orc.force.positional.evolution", false);
    }

    /** The files of one partition by folder: a folder with names and lengths, or with a pattern that matches these alone. */
    private void folders(Iterator files, boolean folds) {
      Map<String, List> folders = new java.util.LinkedHashMap<String, List>();
      while (files.hasNext()) {
        FileStatus status = fileStatus(files.next());
        String uri = status.getPath().toUri().toString();
        String folder = uri.substring(0, uri.lastIndexOf('/'));
        List found = (List) folders.get(folder);
        if (found == null) {
          found = new ArrayList();
          folders.put(folder, found);
        }
        found.add(status);
      }
      out.append('[');
      Iterator entries = folders.entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry entry = (Map.Entry) entries.next();
        List found = (List) entry.getValue();
        if (out.charAt(out.length() - 1) == ']') out.append(',');
        out.append('[');
        string((String) entry.getKey(), out);
        String suffix = folds ? onlySuffix(found) : null;
        if (suffix != null) string("*" + suffix, out.append(','));
        else {
          for (int i = 0; i < found.size(); i++) {
            FileStatus status = (FileStatus) found.get(i);
            String uri = status.getPath().toUri().toString();
            string(uri.substring(uri.lastIndexOf('/') + 1), out.append(','));
            out.append(',').append(status.getLen());
          }
        }
        out.append(']');
      }
      out.append(']');
    }

    /** The suffix that all files of a folder have, and no other entry of the folder; null without one. */
    private String onlySuffix(List files) {
      Path first = ((FileStatus) files.get(0)).getPath();
      String path = first.toUri().getPath();
      for (int i = 0; i < path.length(); i++) if ("*?[]{}\\".indexOf(path.charAt(i)) >= 0) return null;
      int dot = first.getName().indexOf('.');
      if (dot <= 0) return null;
      String suffix = first.getName().substring(first.getName().lastIndexOf('.'));
      Set<String> names = new HashSet<String>();
      for (int i = 0; i < files.size(); i++) names.add(((FileStatus) files.get(i)).getPath().getName());
      String[] entries = entries(first.getParent());
      if (entries == null) return null;
      int matching = 0;
      for (int i = 0; i < entries.length; i++) {
        if (!entries[i].endsWith(suffix)) continue;
        if (!names.contains(entries[i])) return null;
        matching++;
      }
      return matching == files.size() ? suffix : null;
    }

    private String[] entries(Path folder) {
      if ("file".equals(folder.toUri().getScheme())) return new java.io.File(folder.toUri().getPath()).list();
      try {
        Configuration settings = query.hadoop();
        FileStatus[] found = folder.getFileSystem(settings).listStatus(folder);
        String[] names = new String[found.length];
        for (int i = 0; i < found.length; i++) names[i] = found[i].getPath().getName();
        return names;
      } catch (java.io.IOException unreadable) {
        return null;
      }
    }

    private static FileStatus fileStatus(Object file) {
      if (file instanceof FileStatus) return (FileStatus) file;
      return (FileStatus) ((scala.Product) file).productElement(0);
    }

    private static DataType[] fieldTypes(StructType struct) {
      StructField[] fields = struct.fields();
      DataType[] types = new DataType[fields.length];
      for (int i = 0; i < fields.length; i++) types[i] = fields[i].dataType();
      return types;
    }

    /** Of a command that has run, its name and the rows that it shows; the plan that it is for may not even be resolved. */
    private void commandEntry(CommandResult result) {
      value(result.output());
      out.append(',');
      string(result.commandLogicalPlan().nodeName(), out);
      out.append(',');
      rows(javaIterator(result.rows()), attributeTypes(result.output()));
      out.append(",false");
    }

    /** Storage and table properties may hold credentials: only what names the table leaves the JVM. */
    private void catalogTableEntry(CatalogTable table) {
      value(table.identifier());
      out.append(',');
      string(table.tableType().name(), out);
      out.append(',');
      value(table.provider());
    }

    /** Keys of all options, values only of those known to hold no secret. */
    private void options(Object map) {
      out.append("{\"m\":[");
      Iterator entries = map instanceof java.util.Map
          ? ((Iterator) ((java.util.Map) map).entrySet().iterator()) : javaIterator(map);
      for (boolean first = true; entries.hasNext(); first = false) {
        if (!first) out.append(',');
        Object entry = entries.next();
        Object key = entry instanceof Map.Entry ? ((Map.Entry) entry).getKey() : ((scala.Tuple2) entry)._1();
        Object option = entry instanceof Map.Entry ? ((Map.Entry) entry).getValue() : ((scala.Tuple2) entry)._2();
        String name = String.valueOf(key).toLowerCase(java.util.Locale.ROOT);
        out.append('[');
        string(name, out);
        out.append(',');
        if (harmlessOptions.contains(name)) string(String.valueOf(option), out);
        else out.append("null");
        out.append(']');
      }
      out.append("]}");
    }

    // ---- field values

    private void value(Object value) {
      if (value == null) {
        out.append("null");
        return;
      }
      Form form = Form.of(value);
      if (form.way <= Form.LAST_NODE) {
        int number = node(value, form);
        out.append(number);
        return;
      }
      switch (form.way) {
        case Form.NONE: out.append("null"); break;
        case Form.SOME: value(((scala.Some) value).get()); break;
        case Form.TYPE: out.append("{\"t\":").append(type((DataType) value)).append('}'); break;
        case Form.NAME: string(value.toString(), out); break;
        case Form.TEXT: text((UTF8String) value); break;
        case Form.BOOLEAN: out.append(value); break;
        case Form.REAL: out.append("{\"d\":").append(value).append('}'); break;
        case Form.INTEGER: out.append("{\"i\":").append(value).append('}'); break;
        case Form.ID: id((ExprId) value); break;
        case Form.OPTIONS: options(value); break;
        case Form.SEQUENCE: sequence(elements(value)); break;
        case Form.ARRAY: array((Object[]) value); break;
        case Form.JAVA_CLASS: out.append("{\"o\":\"").append(((Class<?>) value).getName()).append("\"}"); break;
        case Form.ENUM: string(((Enum<?>) value).name(), out); break;
        case Form.OBJECT: string(simpleName(value.getClass()), out); break;
        default: opaque(value);
      }
    }

    private void opaque(Object value) {
      boolean isPython = value instanceof PythonFunction;
      callsPython |= isPython;
      string(isPython ? digest((PythonFunction) value) : value.getClass().getName(), out.append(isPython ? "{\"p\":" : "{\"o\":"));
      out.append('}');
    }

    private void sequence(scala.collection.Iterator elements) {
      out.append('[');
      for (boolean first = true; elements.hasNext(); first = false) {
        if (!first) out.append(',');
        value(elements.next());
      }
      out.append(']');
    }

    private void array(Object[] elements) {
      out.append('[');
      for (int i = 0; i < elements.length; i++) {
        if (i > 0) out.append(',');
        value(elements[i]);
      }
      out.append(']');
    }

    // ---- data in Catalyst's internal form

    private void datum(Object value, DataType type) {
      if (value == null) out.append("null");
      else if (value instanceof UTF8String) text((UTF8String) value);
      else if (value instanceof Boolean || value instanceof Number && !(value instanceof scala.math.ScalaNumber)) out.append(value);
      else if (value instanceof Decimal) out.append('"').append(((Decimal) value).toJavaBigDecimal().unscaledValue()).append('"');
      else if (value instanceof byte[]) out.append("{\"x\":\"").append(Base64.getEncoder().encodeToString((byte[]) value)).append("\"}");
      else if (value instanceof InternalRow && type instanceof StructType) row((InternalRow) value, fieldTypes((StructType) type));
      else if (value instanceof ArrayData && type instanceof ArrayType) array((ArrayData) value, ((ArrayType) type).elementType());
      else if (value instanceof MapData && type instanceof MapType) map((MapData) value, (MapType) type);
      else if (value instanceof CalendarInterval) {
        CalendarInterval interval = (CalendarInterval) value;
        out.append('[').append(interval.months).append(',').append(interval.days).append(',').append(interval.microseconds).append(']');
      } else if (value.getClass().getName().equals("org.apache.spark.unsafe.types.VariantVal")) variant(value);
      else if (type != null && isShape(type)) shape(value, type.typeName().startsWith("geometry") ? "stGeom" : "stGeog");
      else opaque(value);
    }

    /** The two parts of a variant's encoding. Spark 3.5 has no such class. */
    private void variant(Object value) {
      try {
        out.append('[');
        datum(value.getClass().getMethod("getValue").invoke(value), null);
        out.append(',');
        datum(value.getClass().getMethod("getMetadata").invoke(value), null);
        out.append(']');
      } catch (ReflectiveOperationException missing) {
        throw new IllegalStateException(missing);
      }
    }

    /** The number of the reference system of a geometry or geography, and its encoding in WKB. Spark has them from 4.1 on. */
    private void shape(Object value, String prefix) {
      try {
        Class<?> functions = Class.forName("org.apache.spark.sql.catalyst.util.STUtils");
        out.append('[').append(functions.getMethod(prefix + "Srid", value.getClass()).invoke(null, value)).append(',');
        datum(functions.getMethod(prefix + "AsBinary", value.getClass()).invoke(null, value), null);
        out.append(']');
      } catch (ReflectiveOperationException missing) {
        throw new IllegalStateException(missing);
      }
    }

    private static boolean isShape(DataType type) {
      return type.typeName().startsWith("geometry(") || type.typeName().startsWith("geography(");
    }

    /** A Spark string may hold bytes that are no UTF-8: those are handed over as bytes. */
    private void text(UTF8String value) {
      byte[] bytes = value.getBytes();
      String decoded = new String(bytes, StandardCharsets.UTF_8);
      if (Arrays.equals(decoded.getBytes(StandardCharsets.UTF_8), bytes)) string(decoded, out);
      else out.append("{\"x\":\"").append(Base64.getEncoder().encodeToString(bytes)).append("\"}");
    }

    private void row(InternalRow row, DataType[] types) {
      out.append('[');
      for (int i = 0; i < types.length; i++) {
        if (i > 0) out.append(',');
        datum(row.isNullAt(i) ? null : row.get(i, types[i]), types[i]);
      }
      out.append(']');
    }

    private void array(ArrayData array, DataType elementType) {
      out.append('[');
      for (int i = 0; i < array.numElements(); i++) {
        if (i > 0) out.append(',');
        datum(array.isNullAt(i) ? null : array.get(i, elementType), elementType);
      }
      out.append(']');
    }

    private void map(MapData map, MapType type) {
      out.append('[');
      array(map.keyArray(), type.keyType());
      out.append(',');
      array(map.valueArray(), type.valueType());
      out.append(']');
    }

    // ---- types

    private int type(DataType type) {
      Integer seen = (Integer) seenTypes.get(type);
      if (seen != null) return seen.intValue();
      int start = out.length();
      out.append('[');
      typeEntry(type);
      String text = taken(start);
      Integer number = (Integer) typeNumbers.get(text);
      if (number == null) {
        number = Integer.valueOf(typeNumbers.size());
        typeNumbers.put(text, number);
        if (types.length() > 0) types.append(',');
        types.append(text);
      }
      seenTypes.put(type, number);
      return number.intValue();
    }

    private void typeEntry(DataType type) {
      if (type instanceof DecimalType) {
        out.append("\"decimal\",").append(((DecimalType) type).precision()).append(',').append(((DecimalType) type).scale());
      } else if (type instanceof ArrayType) {
        out.append("\"array\",").append(type(((ArrayType) type).elementType())).append(',').append(((ArrayType) type).containsNull() ? 1 : 0);
      } else if (type instanceof MapType) {
        MapType map = (MapType) type;
        out.append("\"map\",").append(type(map.keyType())).append(',').append(type(map.valueType())).append(',').append(map.valueContainsNull() ? 1 : 0);
      } else if (type instanceof StructType && ofVariant((StructType) type)) {
        out.append("\"fields of variant\"");
      } else if (type instanceof StructType) {
        structEntry((StructType) type);
      } else if (type instanceof DayTimeIntervalType) {
        out.append("\"daytime\",").append(((DayTimeIntervalType) type).startField()).append(',').append(((DayTimeIntervalType) type).endField());
      } else if (type instanceof YearMonthIntervalType) {
        out.append("\"yearmonth\",").append(((YearMonthIntervalType) type).startField()).append(',').append(((YearMonthIntervalType) type).endField());
      } else if (type instanceof UserDefinedType || type instanceof ObjectType) {
        out.append(type instanceof ObjectType ? "\"object\"," : "\"udt\",");
        string(type.getClass().getName(), out);
      } else if (isShape(type)) {
        string(type.typeName(), out);
        String json = type.json(); // "geography(OGC:CRS84, SPHERICAL)"
        for (String part : json.substring(json.indexOf('(') + 1, json.indexOf(')')).split(", ")) string(part, out.append(','));
      } else {
        String name = type.typeName();
        boolean sized = name.startsWith("char(") || name.startsWith("varchar(");
        boolean plain = !(type instanceof StringType) || sized || type.equals(org.apache.spark.sql.types.StringType$.MODULE$);
        if (plain && !sized && type instanceof StringType) name = "string"; // also where it is called UTF8_BINARY
        string(plain ? name : "collated " + type.sql(), out);
      }
    }

    /** Spark's optimizer has scans give the fields of a variant that a query uses; the files hold the whole variant. */
    private static boolean ofVariant(StructType struct) {
      StructField[] fields = struct.fields();
      return fields.length > 0 && fields[0].metadata().contains("__VARIANT_METADATA_KEY");
    }

    private void structEntry(StructType struct) {
      out.append("\"struct\"");
      StructField[] fields = struct.fields();
      for (int i = 0; i < fields.length; i++) {
        string(fields[i].name(), out.append(','));
        out.append(',').append(type(fields[i].dataType())).append(',').append(fields[i].nullable() ? 1 : 0);
      }
    }

    // ---- classes and names

    private int number(Form form) {
      Integer number = (Integer) classNumbers.get(form);
      if (number == null) {
        number = Integer.valueOf(classNumbers.size());
        classNumbers.put(form, number);
        if (classes.length() > 0) classes.append(',');
        classes.append(form.entry);
      }
      return number.intValue();
    }

    /** Outside Catalyst's own packages, and ours, a class keeps its full name, so that none passes for Catalyst's. */
    public static String simpleName(Class<?> type) {
      String name = type.getName();
      String[] homes = {"org.apache.spark.sql.", "scala.", "substrait_spark_"};
      for (int i = 0; i < homes.length; i++) {
        if (!name.startsWith(homes[i])) continue;
        name = name.substring(Math.max(name.lastIndexOf('.'), name.indexOf('$') == name.length() - 1 ? -1 : name.indexOf('$')) + 1);
      }
      return name.endsWith("$") ? name.substring(0, name.length() - 1) : name;
    }

    private static Method productElementName(Class<?> type) {
      try {
        return type.getMethod("productElementName", new Class[] {Integer.TYPE});
      } catch (NoSuchMethodException scala212) {
        return null;
      }
    }

    public static String[] fieldNames(scala.Product product) {
      String[] names = (String[]) NAMES.get(product.getClass());
      if (names != null) return names;
      names = new String[product.productArity()];
      // Classes of ours tell their names on any Scala.
      Method name = PRODUCT_ELEMENT_NAME == null ? productElementName(product.getClass()) : PRODUCT_ELEMENT_NAME;
      if (name == null) constructorNames(product.getClass(), names);
      else {
        try {
          for (int i = 0; i < names.length; i++) names[i] = (String) name.invoke(product, new Object[] {Integer.valueOf(i)});
        } catch (ReflectiveOperationException impossible) {
          throw new IllegalStateException(impossible);
        }
      }
      NAMES.put(product.getClass(), names);
      return names;
    }

    /**
     * Scala 2.12 does not tell field names; they are those of the constructor's parameters, which Spark finds in the class's
     * signature. The fields in the class file won't do: those of a superclass are not among them. What has no name is found by none.
     */
    private static void constructorNames(Class<?> type, String[] names) {
      Iterator found;
      try {
        found = javaIterator(ScalaReflection$.MODULE$.getConstructorParameterNames(type));
      } catch (Exception local) {
        found = new ArrayList().iterator();
      }
      for (int i = 0; i < names.length; i++) names[i] = found.hasNext() ? (String) found.next() : "_" + (i + 1);
    }

    // ---- JSON in ASCII, so that parts may be cut anywhere

    public static void string(String text, StringBuilder out) {
      out.append('"');
      int start = 0;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c >= ' ' && c < 127 && c != '"' && c != '\\') continue;
        out.append(text, start, i);
        start = i + 1;
        if (c == '"' || c == '\\') out.append('\\').append(c);
        else {
          String hex = Integer.toHexString(c);
          out.append("\\u").append("0000".substring(hex.length())).append(hex);
        }
      }
      out.append(start == 0 ? text : text.substring(start)).append('"');
    }

    public static scala.collection.Iterator elements(Object collection) {
      return ((scala.collection.Iterable) collection).iterator();
    }

    public static scala.collection.immutable.List list(List elements) {
      scala.collection.immutable.List found = (scala.collection.immutable.List) scala.collection.immutable.List$.MODULE$.empty();
      for (int i = elements.size() - 1; i >= 0; i--) found = new scala.collection.immutable.$colon$colon(elements.get(i), found);
      return found;
    }

    public static Iterator javaIterator(Object collection) {
      return javaList(collection).iterator();
    }

    private static List javaList(Object collection) {
      List found = new ArrayList();
      scala.collection.Iterator each = elements(collection);
      while (each.hasNext()) found.add(each.next());
      return found;
    }
  }
}
