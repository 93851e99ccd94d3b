package substrait_spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.analysis.NamedRelation;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.WriteFiles;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.apache.spark.sql.internal.SQLConf;

/**
 * Keeps what runs in a session until it is asked for.
 *
 * <p>Spark tells of each execution when it starts, with the settings that it runs with, and when it ends, with its plan.
 * Compiled by Janino as PlanReader is, and after CommandFields.
 */
public class QueryListener {
  private static final String QUEUE = "substrait-spark";

  /** A listener that keeps what runs from now on: in one session, or in all of an application where that is null. */
  public Listening listen(SparkContext context, Object session, boolean tablesAsFiles) {
    Listening listening = new Listening(context, session, tablesAsFiles);
    // A queue of its own: other listeners may be slow, and then Spark drops events of theirs.
    context.listenerBus().addToQueue(listening, QUEUE);
    return listening;
  }

  /** The class of a command, and what its fields say of where it writes, as JSON; null of what is no command. */
  static String command(QueryExecution execution, Integer part, SQLConf settings) {
    LogicalPlan plan = part(execution.analyzed(), part);
    return plan instanceof Command ? Target.of(plan, settings) : "null";
  }

  /** How many commands an execution runs at once, as one statement may insert into several tables; 0 of other plans. */
  static int commands(QueryExecution execution) {
    if (!(execution.analyzed() instanceof Union)) return 0;
    Iterator children = PlanReader.Walk.javaIterator(execution.analyzed().children());
    int count = 0;
    for (; children.hasNext(); count++) if (!(children.next() instanceof Command)) return 0;
    return count;
  }

  /** One of the commands of a plan, by its number; the plan itself for null. */
  static LogicalPlan part(LogicalPlan plan, Integer part) {
    return part == null ? plan : (LogicalPlan) plan.children().apply(part.intValue());
  }

  /** What an execution has read, the query whose rows its command writes, or what it does to rows, to be read later with the settings of then. */
  public static class Keeping extends PlanReader.InSession {
    private final QueryExecution execution;
    private final Integer part;
    private final SQLConf settings;
    private final boolean tablesAsFiles;
    private final RowChanges.Change change;

    Keeping(QueryExecution execution, Integer part, SQLConf settings, boolean tablesAsFiles, RowChanges.Change change) {
      super(execution.sparkSession(), settings);
      this.execution = execution;
      this.part = part;
      this.settings = settings;
      this.tablesAsFiles = tablesAsFiles;
      this.change = change;
    }

    public Object apply() {
      LogicalPlan analyzed = QueryListener.part(execution.analyzed(), part);
      PlanReader.Query query;
      if (change != null) {
        query = change.rows() == null ? null : (PlanReader.Query) new RowChanges.Finishing(execution, change.rows(), settings).apply();
        if (query != null) query.keepFiles(tablesAsFiles);
        return query;
      }
      LogicalPlan plan = QueryListener.part(PlanReader.Query.optimized(execution), part);
      LogicalPlan written = written(plan);
      if (written == null) {
        query = new PlanReader.Query(execution, plan, analyzed.output(), settings);
      } else if (plan.children().contains(written)) {
        LogicalPlan below = written instanceof WriteFiles ? ((WriteFiles) written).child() : written;
        query = new PlanReader.Query(execution, below, written(analyzed).output(), settings);
      } else {
        // What a command runs by itself is no part of its own plan.
        QueryExecution own = execution.sparkSession().sessionState().executePlan(written, execution.mode());
        query = new PlanReader.Query(own, PlanReader.Query.optimized(own), written.output(), settings);
      }
      query.keepFiles(tablesAsFiles);
      return query;
    }

    /** The query whose rows a command writes; null of what is no such command. */
    static LogicalPlan written(LogicalPlan plan) {
      if (!(plan instanceof Command)) return null;
      String[] names = PlanReader.Walk.fieldNames((scala.Product) plan);
      for (int i = 0; i < names.length; i++) {
        Object field = ((scala.Product) plan).productElement(i);
        if (names[i].equals("query") && field instanceof LogicalPlan) return (LogicalPlan) field;
      }
      return null;
    }
  }

  /** Where a command writes: of its fields those that name a table, a path, a format, a mode or columns. */
  public static class Target extends CommandFields.Writer {
    /** The options that say where a source writes that knows no paths, and which rows it replaces; others may hold secrets. */
    private static final String[] OPTIONS = {"dbtable", "overwrite-mode", "path", "partitionoverwritemode", "replacewhere"};

    static String of(LogicalPlan command, SQLConf settings) {
      StringBuilder out = new StringBuilder();
      Target target = new Target();
      target.begin((scala.Product) command, out);
      if (command instanceof V2WriteCommand && ((V2WriteCommand) command).table() instanceof DataSourceV2Relation) target.overwritten(((DataSourceV2Relation) ((V2WriteCommand) command).table()).table(), out);
      if (settings != null) PlanReader.Walk.string(settings.getConfString("spark.sql.sources.partitionOverwriteMode", "static"), out.append(",\"partitionOverwriteMode\":"));
      return out.append('}').toString();
    }

    /** Of a table whose rows are overwritten, what it is a table of, and whether it has partitions, where that is known. */
    private void overwritten(Table table, StringBuilder out) {
      Object source = table.properties().get("provider");
      boolean isStaged = table instanceof StagedTable;
      // A table that is to replace another has no rows; Delta's is the other itself, whose partitions it doesn't know.
      if (source == null || isStaged && !table.getClass().getName().startsWith("org.apache.spark.sql.delta.")) return;
      text(source, out.append(",\"source\":"));
      if (!isStaged) out.append(",\"isPartitioned\":").append(table.partitioning().length > 0);
    }

    public void other(Object value, StringBuilder out) {
      if (value instanceof Expression) text(((Expression) value).sql(), out);
      else if (value instanceof NamedRelation) text(((NamedRelation) value).name(), out);
      else if (value instanceof CatalogTable) table((CatalogTable) value, out);
      else if (value instanceof CatalogStorageFormat) value(((CatalogStorageFormat) value).locationUri(), out);
      else if (value instanceof scala.collection.Map) options((scala.collection.Map) value, out);
    }

    private void table(CatalogTable table, StringBuilder out) {
      value(table.identifier(), out.append("{\"table\":"));
      if (table.provider().isDefined()) value(table.provider(), out.append(",\"format\":"));
      value(table.partitionColumnNames(), out.append(",\"partitions\":"));
      out.append('}');
    }

    private void options(scala.collection.Map options, StringBuilder out) {
      out.append('{');
      Iterator each = PlanReader.Walk.javaIterator(options);
      while (each.hasNext()) {
        scala.Tuple2 option = (scala.Tuple2) each.next();
        String name = String.valueOf(option._1()).toLowerCase(java.util.Locale.ROOT);
        if (!java.util.Arrays.asList(OPTIONS).contains(name) || !(option._2() instanceof String)) continue;
        text(name, out.append(out.charAt(out.length() - 1) == '{' ? "" : ","));
        text(option._2(), out.append(':'));
      }
      out.append('}');
    }
  }

  /** An event of ours: when it arrives, all that was told before has. */
  public static class Marker implements SparkListenerEvent {
    final Listening sender;
    final CountDownLatch arrived = new CountDownLatch(1);

    Marker(Listening sender) {
      this.sender = sender;
    }

    public boolean logEvent() {
      return false;
    }
  }

  /** What is known of an execution when it starts. */
  static class Started {
    final long root;
    final Object settings;

    Started(long root, Object settings) {
      this.root = root;
      this.settings = settings;
    }
  }

  /** An execution that has ended: what it was, and its plan as it is to be read. */
  public static class Ended {
    final long id;
    final Started started;
    private final String name;
    private final Throwable failure;
    private String command = "null";
    private RowChanges.Change change;
    private PlanReader.Query query;
    private Throwable obstacle;

    Ended(SparkListenerSQLExecutionEnd event, Started started) {
      this.id = event.executionId();
      this.started = started;
      this.name = event.executionName().isDefined() ? (String) event.executionName().get() : null;
      this.failure = event.executionFailure().isDefined() ? (Throwable) event.executionFailure().get() : null;
    }

    /** The part is the number of a command, where an execution runs several; else it is null. */
    void keep(QueryExecution execution, Integer part, boolean tablesAsFiles, boolean hasParts) {
      try {
        // A Dataset of a command holds what it gave: the command itself ran as another execution.
        boolean given = execution.mode().equals(CommandExecutionMode$.MODULE$.ALL());
        if (!given) {
          command = QueryListener.command(execution, part, started.settings == null ? null : settings(execution));
          change = changeOf(QueryListener.part(execution.analyzed(), part));
        }
        if (started.settings != null && (change != null || !hasParts)) query = (PlanReader.Query) PlanReader.onDeepStack(new Keeping(execution, part, settings(execution), tablesAsFiles, change));
      } catch (Throwable failed) {
        obstacle = failed;
      }
    }

    /** Where new rows take the place of some, those are its query. */
    private static RowChanges.Change changeOf(LogicalPlan plan) {
      RowChanges.Change found = plan instanceof Command ? RowChanges.of(plan) : null;
      return found == null || found.kind().equals("OVERWRITE") ? null : found;
    }

    /** The settings that it ran with: those of the application that the session has not lost, and what was told of others. */
    private SQLConf settings(QueryExecution execution) {
      SQLConf then = new SQLConf();
      Map<String, String> now = execution.sparkSession().sessionState().conf().settings();
      scala.Tuple2[] shared = execution.sparkSession().sharedState().conf().getAll();
      for (int i = 0; i < shared.length; i++) {
        if (now.containsKey(shared[i]._1())) then.settings().put((String) shared[i]._1(), (String) shared[i]._2());
      }
      scala.collection.Iterator modified = ((scala.collection.Iterable) started.settings).iterator();
      while (modified.hasNext()) {
        scala.Tuple2 setting = (scala.Tuple2) modified.next();
        then.settings().put((String) setting._1(), (String) setting._2());
      }
      return then;
    }

    public long id() {
      return id;
    }

    /** The execution that it is a part of, which is itself for what the user called. */
    public long root() {
      return started.root;
    }

    public String name() {
      return name;
    }

    public String command() {
      return command;
    }

    public Object query() {
      return query;
    }

    /** What it does to rows of a table where they are; null where it changes none so. */
    public RowChanges.Change change() {
      return change;
    }

    public Throwable failure() {
      return failure;
    }

    public Throwable obstacle() {
      return obstacle;
    }
  }

  public static class Listening extends SparkListener {
    private final SparkContext context;
    private final Object session;
    private final boolean tablesAsFiles;
    private final long since = System.currentTimeMillis();
    private final Map<Long, Started> running = new HashMap<Long, Started>();
    private final List<Ended> ended = new ArrayList<Ended>();
    private volatile boolean over;

    Listening(SparkContext context, Object session, boolean tablesAsFiles) {
      this.context = context;
      this.session = session;
      this.tablesAsFiles = tablesAsFiles;
    }

    public void onOtherEvent(SparkListenerEvent event) {
      if (event instanceof SparkListenerSQLExecutionStart) start((SparkListenerSQLExecutionStart) event);
      else if (event instanceof SparkListenerSQLExecutionEnd) end((SparkListenerSQLExecutionEnd) event);
      else if (event instanceof Marker && ((Marker) event).sender == this) ((Marker) event).arrived.countDown();
    }

    /** The last event of an application: all that was told before has arrived here too. */
    public void onApplicationEnd(SparkListenerApplicationEnd event) {
      over = true;
    }

    // Blocks are synchronized, not methods: Janino forgets that of private ones.

    private void start(SparkListenerSQLExecutionStart event) {
      long id = event.executionId();
      long root = event.rootExecutionId().isDefined() ? ((Number) event.rootExecutionId().get()).longValue() : id;
      synchronized (this) {
        running.put(Long.valueOf(id), new Started(root, event.modifiedConfigs()));
      }
    }

    private void end(SparkListenerSQLExecutionEnd event) {
      Started started = started(event);
      QueryExecution execution = event.qe();
      // What Spark can't analyze is no action: it is told where the query is written.
      boolean analyzing = event.executionName().isDefined() && event.executionName().get().equals("analyze");
      boolean known = started != null && execution != null && !analyzing && (session == null || execution.sparkSession() == session);
      List<Ended> kept = new ArrayList<Ended>();
      if (known) {
        int commands = commands(execution);
        boolean hasParts = hasParts(event.executionId(), started.root);
        for (int i = 0; i < Math.max(1, commands); i++) {
          Ended part = new Ended(event, started);
          part.keep(execution, commands == 0 ? null : Integer.valueOf(i), tablesAsFiles, hasParts);
          kept.add(part);
        }
      }
      synchronized (this) {
        running.remove(Long.valueOf(event.executionId()));
        ended.addAll(kept);
      }
    }

    private static int commands(QueryExecution execution) {
      try {
        return QueryListener.commands(execution);
      } catch (Throwable unplanned) {
        return 0;
      }
    }

    /** What was told of the start: nothing of what began before us, and of what Spark can't plan. */
    private Started started(SparkListenerSQLExecutionEnd event) {
      synchronized (this) {
        Started started = (Started) running.get(Long.valueOf(event.executionId()));
        if (started != null) return started;
      }
      boolean within = event.time() - event.duration() / 1000000 >= since;
      return within && event.executionFailure().isDefined() ? new Started(event.executionId(), null) : null;
    }

    /** Whether other commands were a part of one: what it writes, they do. */
    private boolean hasParts(long id, long root) {
      synchronized (this) {
        for (int i = 0; i < ended.size(); i++) {
          Ended other = (Ended) ended.get(i);
          if (other.started.root == root && other.id > id && !other.command.equals("null")) return true;
        }
        return false;
      }
    }

    /** Waits until all that has ended so far has been told; false where that takes too long. */
    public boolean isTold(long milliseconds) throws InterruptedException {
      Marker marker = new Marker(this);
      context.listenerBus().post(marker);
      long last = System.currentTimeMillis() + milliseconds;
      while (!over && !marker.arrived.await(100, TimeUnit.MILLISECONDS)) {
        if (System.currentTimeMillis() > last) return false;
      }
      return true;
    }

    /** What has ended since it was asked last, but for parts of what still runs. */
    public List<Ended> taken() {
      List<Ended> taken = new ArrayList<Ended>();
      synchronized (this) {
        Iterator<Ended> each = ended.iterator();
        while (each.hasNext()) {
          Ended next = (Ended) each.next();
          if (running.containsKey(Long.valueOf(next.started.root))) continue;
          taken.add(next);
          each.remove();
        }
      }
      return taken;
    }

    public void stop() {
      context.listenerBus().removeListener(this);
    }
  }
}
