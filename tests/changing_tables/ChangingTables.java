package substrait_spark_tests;

import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.CatalogV2Util$;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsDeleteV2;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A catalog of tables whose rows can be read, deleted, updated and replaced as far as Spark's analysis asks. Nothing is ever changed. */
public class ChangingTables implements TableCatalog {
  private final Map tables = new HashMap();
  private String name;

  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
  }

  public String name() {
    return name;
  }

  public Set capabilities() {
    return Collections.singleton(TableCatalogCapability.SUPPORT_COLUMN_DEFAULT_VALUE);
  }

  public Identifier[] listTables(String[] namespace) {
    return new Identifier[0];
  }

  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    if (!tables.containsKey(identifier.name())) throw new NoSuchTableException(identifier);
    return (Table) tables.get(identifier.name());
  }

  public Table createTable(Identifier identifier, Column[] columns, Transform[] partitions, Map properties) {
    tables.put(identifier.name(), new Changing(identifier.name(), columns));
    return (Table) tables.get(identifier.name());
  }

  public Table createTable(Identifier identifier, StructType schema, Transform[] partitions, Map properties) {
    throw new UnsupportedOperationException("createTable");
  }

  /** The rows that a table has from now on. */
  public void fill(String table, InternalRow[] rows) {
    ((Changing) tables.get(table)).rows = rows;
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

  public static class Changing
      implements Table, SupportsRead, SupportsWrite, SupportsDeleteV2, SupportsRowLevelOperations {
    private final String name;
    private final Column[] columns;
    InternalRow[] rows = new InternalRow[0];

    Changing(String name, Column[] columns) {
      this.name = name;
      this.columns = columns;
    }

    public String name() {
      return name;
    }

    public Column[] columns() {
      return columns;
    }

    public StructType schema() {
      return CatalogV2Util$.MODULE$.v2ColumnsToStructType(columns);
    }

    public Set capabilities() {
      return EnumSet.of(TableCapability.BATCH_READ, TableCapability.BATCH_WRITE, TableCapability.OVERWRITE_BY_FILTER);
    }

    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return new Rows(this);
    }

    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
      throw new UnsupportedOperationException("newWriteBuilder");
    }

    public void deleteWhere(Predicate[] predicates) {
      throw new UnsupportedOperationException("deleteWhere");
    }

    public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
      return new Operation(this, info.command());
    }
  }

  public static class Rows implements ScanBuilder, LocalScan {
    private final Changing table;

    Rows(Changing table) {
      this.table = table;
    }

    public Scan build() {
      return this;
    }

    public StructType readSchema() {
      return CatalogV2Util$.MODULE$.v2ColumnsToStructType(table.columns);
    }

    public InternalRow[] rows() {
      return table.rows;
    }
  }

  /** An operation that reads and writes all rows. */
  public static class Operation implements RowLevelOperationBuilder, RowLevelOperation {
    private final Changing table;
    private final RowLevelOperation.Command command;

    Operation(Changing table, RowLevelOperation.Command command) {
      this.table = table;
      this.command = command;
    }

    public RowLevelOperation build() {
      return this;
    }

    public RowLevelOperation.Command command() {
      return command;
    }

    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return new Rows(table);
    }

    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
      throw new UnsupportedOperationException("newWriteBuilder");
    }
  }
}
