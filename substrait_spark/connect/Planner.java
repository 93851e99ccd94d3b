package substrait_spark;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.GlobPattern;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.spark.connect.proto.Plan;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.catalog.CatalogStatistics;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connect.planner.SparkConnectPlanner;
import org.apache.spark.sql.connect.service.SessionHolder;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileStatusCache;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Plans the messages of Spark Connect with Spark's own planner, over stand-ins of the server's tables.
 *
 * <p>Compiled by Janino in the planner's own JVM, so: no lambdas, no diamond operators, and only classes that every Spark
 * from 4.0 on has.
 */
public class Planner {
  static final String SESSION_CATALOG = "spark_catalog";
  private static final ThreadLocal PLANNING = new ThreadLocal();
  private final SparkSession root;

  public Planner() {
    org.apache.spark.sql.SparkSession.Builder builder = org.apache.spark.sql.SparkSession.builder();
    this.root = (SparkSession) builder.master("local[1]").appName("substrait-spark").getOrCreate();
  }

  /** The context that all sessions have in common. */
  public Object context() {
    return org.apache.spark.api.java.JavaSparkContext.fromSparkContext(root.sparkContext());
  }

  /** Where the frames of one session of a server are planned. */
  public Session session() {
    return new Session((SparkSession) root.newSession());
  }

  /** What stands for the server's session: its settings, and its tables as far as a query has asked for them. */
  public static class Session {
    private final SparkSession session;
    private final Map tables = new HashMap();
    private final Set views = new HashSet();
    private final Set asked = new LinkedHashSet();
    private final Set found = new LinkedHashSet();
    private final Set settings = new HashSet();
    private final Set classes = new HashSet();
    private String refused;

    Session(SparkSession session) {
      this.session = session;
    }

    /** Take the settings of the server's session for this one's, and where its names begin. */
    public void configure(Map given, List catalogs, String catalog, List namespace) throws Exception {
      Iterator earlier = new ArrayList(settings).iterator();
      while (earlier.hasNext()) {
        String key = (String) earlier.next();
        if (!given.containsKey(key)) session.conf().unset(key);
      }
      settings.clear();
      Iterator entries = given.entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry entry = (Map.Entry) entries.next();
        if (SQLConf.isStaticConfigKey((String) entry.getKey())) continue;
        session.conf().set((String) entry.getKey(), (String) entry.getValue());
        settings.add(entry.getKey());
      }
      for (int i = 0; i < catalogs.size(); i++) knows((String) catalogs.get(i));
      session.conf().set("spark.sql.catalog." + SESSION_CATALOG, SessionStandIns.class.getName());
      within(catalog, (String[]) namespace.toArray(new String[0]));
    }

    private void within(String catalog, String[] namespace) {
      ClassLoader before = enter();
      try {
        knows(catalog);
        org.apache.spark.sql.connector.catalog.CatalogManager manager = session.sessionState().catalogManager();
        manager.setCurrentCatalog(catalog);
        // The local catalog has no databases, and asks for none where the name is set by itself.
        if (catalog.equals(SESSION_CATALOG)) session.sessionState().catalog().currentDb_$eq(namespace[0]);
        else manager.setCurrentNamespace(namespace);
      } finally {
        leave(before);
      }
    }

    /** Whether a first part of a name is a catalog, which the server alone can tell. */
    public void knows(String catalog) {
      if (!catalog.equals(SESSION_CATALOG)) session.conf().set("spark.sql.catalog." + catalog, StandIns.class.getName());
    }

    /** A table of the server: by its catalog, namespace and name, with the schema that reading it has there. */
    public void table(List name, List shown, String schema, String provider, List partitions, long size) throws Exception {
      StructType columns = (StructType) DataType.fromJson(schema);
      if (!name.get(0).equals(SESSION_CATALOG)) put(name, new StandIn("table", (String[]) shown.toArray(new String[0]), columns));
      else {
        Map changes = new HashMap();
        changes.put("provider", new scala.Some(provider));
        changes.put("partitionColumnNames", sequence(partitions));
        changes.put("stats", new scala.Some(new CatalogStatistics(
            scala.math.BigInt.apply(size), (scala.Option) scala.None$.MODULE$, immutable(new HashMap()))));
        put(name, V1Table.apply(catalogTable(key(shown), CatalogTableType.EXTERNAL(), columns, changes)));
      }
    }

    /** A persistent view of the server's session catalog, with the properties that Spark keeps of it. */
    public void view(List name, List shown, String schema, String text, Map properties) throws Exception {
      Map changes = new HashMap();
      changes.put("viewText", new scala.Some(text));
      changes.put("viewOriginalText", new scala.Some(text));
      changes.put("properties", immutable(properties));
      put(name, V1Table.apply(catalogTable(key(shown), CatalogTableType.VIEW(), (StructType) DataType.fromJson(schema), changes)));
    }

    /** A view that only the server's session knows: it hides tables of its name, and no plan can hold it. */
    public void temporaryView(List name, String schema) throws Exception {
      String last = (String) name.get(name.size() - 1);
      StandIn standIn = new StandIn("temporary view", new String[] {last}, (StructType) DataType.fromJson(schema));
      LogicalPlan relation = org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation.create(
          standIn, (scala.Option) scala.None$.MODULE$, (scala.Option) scala.None$.MODULE$);
      Dataset rows = Dataset.ofRows(session, relation);
      if (name.size() > 1) rows.createOrReplaceGlobalTempView(last);
      else rows.createOrReplaceTempView(last);
      views.add(name);
    }

    /**
     * Files that the server reads, as a view: of a format, with the columns and options of the read. `patterns` are the paths
     * as they were given, `uris` those of the files that they stand for there; `here` says whether they are this machine's.
     */
    public void files(String view, String format, String schema, Map options, List patterns, List uris, long size, boolean here) throws Exception {
      ClassLoader before = enter();
      try {
        RemoteListing listing = new RemoteListing(patterns, uris, here);
        Iterator schemes = listing.schemes.iterator();
        while (schemes.hasNext()) session.conf().set("fs." + schemes.next() + ".impl", RemoteFiles.class.getName());
        scala.collection.immutable.Map given = immutable(options);
        StructType columns = (StructType) DataType.fromJson(schema);
        InMemoryFileIndex index = new RemoteIndex(session, listing, given, columns, size);
        StructType folders = index.partitionSchema();
        StructType data = new StructType();
        for (int i = 0; i < columns.fields().length; i++) {
          StructField field = columns.fields()[i];
          if (!Arrays.asList(folders.fieldNames()).contains(field.name())) data = data.add(field);
        }
        FileFormat files = (FileFormat) Class.forName(format).newInstance();
        HadoopFsRelation relation = new HadoopFsRelation(
            index, folders, data.asNullable(), (scala.Option) scala.None$.MODULE$, files,
            (scala.collection.immutable.Map) (Object) org.apache.spark.sql.catalyst.util.CaseInsensitiveMap$.MODULE$.apply(given), session);
        Set read = new HashSet(Arrays.asList(index.inputFiles()));
        if (!relation.schema().sameType(columns) || !Arrays.equals(relation.schema().fieldNames(), columns.fieldNames()) || !read.equals(new HashSet(uris)))
          throw new IllegalArgumentException("other files or columns than the server's");
        session.baseRelationToDataFrame(relation).createOrReplaceTempView(view);
        views.add(Collections.singletonList(view));
      } finally {
        leave(before);
      }
    }

    private void put(List name, Table table) {
      tables.put(key(name), table);
      session.sessionState().catalog().invalidateAllCachedTables();
    }

    /** Forget all tables, which may have changed. */
    public void forget() {
      tables.clear();
      session.sessionState().catalog().invalidateAllCachedTables();
    }

    public void forgetTemporaryViews() {
      Iterator names = views.iterator();
      while (names.hasNext()) {
        List name = (List) names.next();
        String last = (String) name.get(name.size() - 1);
        if (name.size() > 1) session.catalog().dropGlobalTempView(last);
        else session.catalog().dropTempView(last);
      }
      views.clear();
    }

    /** The Dataset of a message; null where tables are asked for that are not known; text, what it would have to do for it. */
    public Object plan(byte[] message, boolean sameVersion) throws Exception {
      asked.clear();
      found.clear();
      refused = null;
      classes.clear();
      int jobs = session.sparkContext().dagScheduler().numTotalJobs();
      ClassLoader before = enter();
      try {
        SessionHolder holder = new SessionHolder("substrait-spark", session.sessionUUID(), session);
        SparkConnectPlanner planner = new SparkConnectPlanner(holder, (scala.Option) scala.None$.MODULE$);
        Dataset dataset = Dataset.ofRows(session, planner.transformRelation(Plan.parseFrom(message).getRoot()));
        collect(dataset.queryExecution().analyzed());
        if (classes.contains("CurrentUser")) return "the user";
        if (classes.contains("SparkVersion") && !sameVersion) return "the version";
        dataset.queryExecution().optimizedPlan();
        return session.sparkContext().dagScheduler().numTotalJobs() == jobs ? (Object) dataset : "a job";
      } catch (Exception failed) {
        if (refused == null && asked.isEmpty()) throw failed;
        return refused;
      } finally {
        leave(before);
      }
    }

    /** Whether the last message asked where its names begin. */
    public boolean namesPlace() {
      return classes.contains("CurrentDatabase") || classes.contains("CurrentCatalog");
    }

    /** The classes of all expressions of a plan, and of its subqueries'. */
    private void collect(LogicalPlan root) {
      List waiting = new ArrayList();
      waiting.add(root);
      while (!waiting.isEmpty()) {
        Object node = waiting.remove(waiting.size() - 1);
        if (node instanceof LogicalPlan) add(((LogicalPlan) node).expressions(), waiting);
        else classes.add(node.getClass().getSimpleName());
        if (node instanceof SubqueryExpression) waiting.add(((SubqueryExpression) node).plan());
        add(((TreeNode) node).children(), waiting);
        add(((TreeNode) node).innerChildren(), waiting);
      }
    }

    private static void add(Object nodes, List waiting) {
      scala.collection.Iterator each = ((scala.collection.Iterable) nodes).iterator();
      while (each.hasNext()) {
        Object node = each.next();
        if (node instanceof LogicalPlan || node instanceof Expression) waiting.add(node);
      }
    }

    /** Names of tables that the last message asked for in vain, as JSON: of a list, py4j would ask for each item. */
    public String asked() throws Exception {
      return new com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(asked);
    }

    /** Names of the stand-ins that the last message was planned with, as JSON. */
    public String found() throws Exception {
      return new com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(found);
    }

    Table refuse(String what) {
      refused = what;
      throw new UnsupportedOperationException(what);
    }

    Table load(String catalog, Identifier identifier) throws NoSuchTableException {
      List name = new ArrayList();
      name.add(catalog);
      name.addAll(Arrays.asList(identifier.namespace()));
      name.add(identifier.name());
      name = key(name);
      Object table = tables.get(name);
      (table == null ? asked : found).add(name);
      if (table == null) throw new NoSuchTableException(identifier);
      return (Table) table;
    }

    private List key(List name) {
      if (!name.get(0).equals(SESSION_CATALOG) || session.sessionState().conf().caseSensitiveAnalysis()) return name;
      List lower = new ArrayList();
      for (int i = 0; i < name.size(); i++) lower.add(((String) name.get(i)).toLowerCase(Locale.ROOT));
      return lower;
    }

    private ClassLoader enter() {
      Thread thread = Thread.currentThread();
      ClassLoader before = thread.getContextClassLoader();
      // Spark makes catalogs by the names of their classes, which this loader alone knows.
      thread.setContextClassLoader(Planner.class.getClassLoader());
      PLANNING.set(this);
      // Spark's expressions take their modes from the thread's session when they are made.
      org.apache.spark.sql.SparkSession.setActiveSession(session);
      return before;
    }

    private void leave(ClassLoader before) {
      PLANNING.remove();
      org.apache.spark.sql.SparkSession.clearActiveSession();
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  /** The session catalog, whose tables are stand-ins. */
  public static class SessionStandIns extends DelegatingCatalogExtension {
    public Table loadTable(Identifier identifier) throws NoSuchTableException {
      return ((Session) PLANNING.get()).load(SESSION_CATALOG, identifier);
    }

    public Table loadTable(Identifier identifier, long timestamp) throws NoSuchTableException {
      return ((Session) PLANNING.get()).refuse("time travel");
    }

    public Table loadTable(Identifier identifier, String version) throws NoSuchTableException {
      return ((Session) PLANNING.get()).refuse("time travel");
    }
  }

  /** Any other catalog. */
  public static class StandIns implements TableCatalog {
    private String name;

    public void initialize(String name, CaseInsensitiveStringMap options) {
      this.name = name;
    }

    public String name() {
      return name;
    }

    public Table loadTable(Identifier identifier) throws NoSuchTableException {
      return ((Session) PLANNING.get()).load(name, identifier);
    }

    public Table loadTable(Identifier identifier, long timestamp) throws NoSuchTableException {
      return ((Session) PLANNING.get()).refuse("time travel");
    }

    public Table loadTable(Identifier identifier, String version) throws NoSuchTableException {
      return ((Session) PLANNING.get()).refuse("time travel");
    }

    public Identifier[] listTables(String[] namespace) {
      return new Identifier[0];
    }

    public Table createTable(Identifier identifier, StructType schema, Transform[] partitions, Map properties) {
      throw new UnsupportedOperationException("createTable");
    }

    public Table alterTable(Identifier identifier, TableChange[] changes) {
      throw new UnsupportedOperationException("alterTable");
    }

    public boolean dropTable(Identifier identifier) {
      throw new UnsupportedOperationException("dropTable");
    }

    public void renameTable(Identifier from, Identifier to) {
      throw new UnsupportedOperationException("renameTable");
    }
  }

  /** What the server has and is not here: its name, what it is, and the columns that reading it gives. */
  public static class StandIn implements Table, SupportsRead, ScanBuilder, Scan {
    private final String kind;
    private final String[] parts;
    private final StructType columns;

    StandIn(String kind, String[] parts, StructType columns) {
      this.kind = kind;
      this.parts = parts;
      this.columns = columns;
    }

    public String remoteKind() {
      return kind;
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

  /** The files that a server has listed, so that nobody lists them again. */
  public static class RemoteListing extends FileStatusCache {
    final List roots = new ArrayList();
    final Set schemes = new HashSet();
    private final Map leaves = new HashMap();

    RemoteListing(List patterns, List uris, boolean here) throws Exception {
      List files = new ArrayList();
      for (int i = 0; i < uris.size(); i++) {
        Path path = new Path(new URI((String) uris.get(i)));
        String scheme = path.toUri().getScheme();
        boolean local = "file".equals(scheme);
        if (!local) schemes.add(scheme);
        java.io.File file = new java.io.File(path.toUri().getPath());
        // Of what is elsewhere, no one here knows how long it is.
        files.add(new FileStatus(local && here && file.exists() ? file.length() : -1, false, 1, 1, 0, path));
      }
      for (int i = 0; i < patterns.size(); i++) {
        Path pattern = new Path((String) patterns.get(i));
        Map found = new java.util.TreeMap();
        for (int j = 0; j < files.size(); j++) {
          FileStatus file = (FileStatus) files.get(j);
          Path root = root(pattern, file.getPath());
          if (root == null) continue;
          if (!found.containsKey(root)) found.put(root, new ArrayList());
          ((List) found.get(root)).add(file);
        }
        roots.addAll(found.keySet());
        leaves.putAll(found);
      }
    }

    /** What of a file's path a pattern names: a folder above it, or itself; null where the pattern doesn't match. */
    private static Path root(Path pattern, Path file) {
      Path root = file;
      while (root.depth() > pattern.depth()) root = root.getParent();
      String[] names = root.toUri().getPath().split("/");
      String[] wanted = pattern.toUri().getPath().split("/");
      boolean matches = names.length == wanted.length;
      for (int i = 0; matches && i < names.length; i++)
        matches = names[i].equals(wanted[i]) || !wanted[i].isEmpty() && new GlobPattern(wanted[i]).matches(names[i]);
      return matches ? root : null;
    }

    public scala.Option getLeafFiles(Path path) {
      List files = (List) leaves.get(path);
      return files == null ? (scala.Option) scala.None$.MODULE$ : new scala.Some(files.toArray(new FileStatus[0]));
    }

    public void putLeafFiles(Path path, FileStatus[] files) {}

    public void invalidateAll() {}
  }

  /** The files of a server, and how large they are as it estimates them. */
  public static class RemoteIndex extends InMemoryFileIndex {
    private final long size;

    RemoteIndex(SparkSession session, RemoteListing listing, scala.collection.immutable.Map options, StructType columns, long size) {
      super(session, (scala.collection.immutable.Seq) sequence(listing.roots), options, new scala.Some(columns), listing,
          (scala.Option) scala.None$.MODULE$, (scala.Option) scala.None$.MODULE$);
      this.size = size;
    }

    public long sizeInBytes() {
      return size;
    }
  }

  /** A file system that is out of reach: it qualifies paths, and no more. */
  public static class RemoteFiles extends FileSystem {
    private URI place;

    public void initialize(URI place, Configuration settings) throws IOException {
      super.initialize(place, settings);
      this.place = URI.create(place.getScheme() + "://" + (place.getAuthority() == null ? "" : place.getAuthority()));
    }

    public URI getUri() {
      return place;
    }

    public Path getWorkingDirectory() {
      return new Path(place.toString() + "/");
    }

    public void setWorkingDirectory(Path folder) {}

    public FSDataInputStream open(Path path, int size) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }

    public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite, int size, short copies, long block,
        Progressable progress) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }

    public FSDataOutputStream append(Path path, int size, Progressable progress) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }

    public boolean rename(Path from, Path to) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }

    public boolean delete(Path path, boolean all) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }

    public FileStatus[] listStatus(Path path) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }

    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }

    public FileStatus getFileStatus(Path path) throws IOException {
      throw new IOException(OUT_OF_REACH);
    }
  }

  private static final String OUT_OF_REACH = "The files of a Spark Connect server are out of reach.";

  private static CatalogTable catalogTable(List shown, CatalogTableType type, StructType schema, Map changes) throws Exception {
    int last = shown.size() - 1;
    TableIdentifier identifier = new TableIdentifier((String) shown.get(last), new scala.Some(shown.get(last - 1)),
        last > 1 ? (scala.Option) new scala.Some(shown.get(0)) : (scala.Option) scala.None$.MODULE$);
    Map all = new HashMap(changes);
    all.put("identifier", identifier);
    all.put("tableType", type);
    all.put("storage", CatalogStorageFormat.empty());
    all.put("schema", schema);
    return (CatalogTable) constructed(CatalogTable.class, all);
  }

  /** A value of a case class whose fields have their defaults but for these: every version of Spark adds a few. */
  private static Object constructed(Class type, Map given) throws Exception {
    Constructor constructor = type.getConstructors()[0];
    List arguments = new ArrayList();
    Field[] fields = type.getDeclaredFields();
    for (int i = 0; arguments.size() < constructor.getParameterTypes().length; i++) {
      // Values that are computed later have fields as well, which are not final.
      if (Modifier.isStatic(fields[i].getModifiers()) || !Modifier.isFinal(fields[i].getModifiers())) continue;
      String name = fields[i].getName();
      int place = arguments.size() + 1;
      arguments.add(given.containsKey(name) ? given.get(name) : type.getMethod("$lessinit$greater$default$" + place).invoke(null));
    }
    return constructor.newInstance(arguments.toArray());
  }

  private static scala.collection.immutable.Map immutable(Map entries) {
    scala.collection.immutable.Map copy = (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty();
    Iterator each = entries.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry entry = (Map.Entry) each.next();
      copy = (scala.collection.immutable.Map) copy.$plus(new scala.Tuple2(entry.getKey(), entry.getValue()));
    }
    return copy;
  }

  private static Object sequence(List items) {
    scala.collection.immutable.List sequence = (scala.collection.immutable.List) scala.collection.immutable.List$.MODULE$.empty();
    for (int i = items.size() - 1; i >= 0; i--) sequence = sequence.$colon$colon(items.get(i));
    return sequence;
  }
}
