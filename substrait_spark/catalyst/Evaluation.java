package substrait_spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.execution.arrow.ArrowWriter$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.ArrowUtils$;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Evaluates the columns of a projection over rows that come as Arrow. */
public class Evaluation {
  /** What evaluates a query: projections, one over the other, above a table whose rows `evaluate` is given. */
  public Object of(QueryExecution query, SQLConf settings) {
    return new Evaluator(query.optimizedPlan(), settings);
  }

  /** Rows that come as a stream of Arrow. */
  public List<InternalRow> rows(byte[] stream, StructType schema) throws Exception {
    BufferAllocator memory = memory();
    ArrowStreamReader input = new ArrowStreamReader(new ByteArrayInputStream(stream), memory);
    try {
      UnsafeProjection copy = UnsafeProjection$.MODULE$.create(schema);
      List<InternalRow> rows = new ArrayList<InternalRow>();
      while (input.loadNextBatch()) {
        ColumnarBatch batch = batch(input);
        for (int index = 0; index < batch.numRows(); index++) {
          rows.add(copy.apply(batch.getRow(index)).copy());
        }
      }
      return rows;
    } finally {
      input.close();
      memory.close();
    }
  }

  static BufferAllocator memory() {
    return ArrowUtils$.MODULE$.rootAllocator().newChildAllocator("evaluation", 0, Long.MAX_VALUE);
  }

  static ColumnarBatch batch(ArrowStreamReader input) throws Exception {
    VectorSchemaRoot batch = input.getVectorSchemaRoot();
    ColumnVector[] columns = new ColumnVector[batch.getFieldVectors().size()];
    for (int index = 0; index < columns.length; index++) {
      columns[index] = new ArrowColumnVector(batch.getVector(index));
    }
    return new ColumnarBatch(columns, batch.getRowCount());
  }

  public static class Evaluator {
    private final List<UnsafeProjection> steps = new ArrayList<UnsafeProjection>();
    private final SQLConf settings;

    Evaluator(LogicalPlan plan, SQLConf settings) {
      this.settings = settings;
      LogicalPlan at = plan;
      for (; at instanceof Project; at = ((Project) at).child()) {
        Project project = (Project) at;
        steps.add(0, UnsafeProjection$.MODULE$.create(project.projectList(), project.child().output()));
      }
      // Copied first: some expressions read all elements of a list of numbers at once, and Arrow's raise for nulls among these.
      steps.add(0, UnsafeProjection$.MODULE$.create(at.output(), at.output()));
    }

    /**
     * The columns for some rows, both as streams of Arrow. `wanted` is such a stream without rows: the schema of the columns.
     *
     * One call at a time, since expressions keep what they work with.
     */
    public synchronized byte[] evaluate(final byte[] rows, final byte[] wanted) {
      return (byte[]) SQLConf.withExistingConf(settings, new scala.runtime.AbstractFunction0() {
        public Object apply() {
          try {
            return evaluated(rows, wanted);
          } catch (Exception failed) {
            org.apache.spark.unsafe.Platform.throwException(failed);
            return null;
          }
        }
      });
    }

    byte[] evaluated(byte[] rows, byte[] wanted) throws Exception {
      BufferAllocator memory = memory();
      ArrowStreamReader input = new ArrowStreamReader(new ByteArrayInputStream(rows), memory);
      VectorSchemaRoot results = VectorSchemaRoot.create(schemaOf(wanted, memory), memory);
      try {
        ArrowWriter writer = ArrowWriter$.MODULE$.create(results);
        while (input.loadNextBatch()) {
          writeAll(batch(input), writer);
        }
        writer.finish();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ArrowStreamWriter output = new ArrowStreamWriter(results, null, Channels.newChannel(bytes));
        output.writeBatch();
        output.end();
        return bytes.toByteArray();
      } finally {
        results.close();
        input.close();
        memory.close();
      }
    }

    private static Schema schemaOf(byte[] stream, BufferAllocator memory) throws Exception {
      ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(stream), memory);
      try {
        return reader.getVectorSchemaRoot().getSchema();
      } finally {
        reader.close();
      }
    }

    private void writeAll(ColumnarBatch batch, ArrowWriter writer) {
      for (int index = 0; index < batch.numRows(); index++) {
        InternalRow row = batch.getRow(index);
        for (UnsafeProjection step : steps) {
          row = step.apply(row);
        }
        writer.write(row);
      }
    }
  }
}
