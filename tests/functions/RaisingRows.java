package functions;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BindReferences;
import org.apache.spark.sql.catalyst.expressions.Expression;

/** Evaluates an expression row by row with Spark's interpreter. */
public class RaisingRows {
  /** The keys of the rows for which the call raises; `columns` is the AttributeSeq of the rows. */
  public List find(Expression key, Expression call, Object columns, InternalRow[] rows) {
    Expression boundKey = bound(key, columns);
    Expression boundCall = bound(call, columns);
    List found = new ArrayList();
    for (int i = 0; i < rows.length; i++) {
      try {
        boundCall.eval(rows[i]);
      } catch (Exception raised) {
        found.add(boundKey.eval(rows[i]));
        boundCall = bound(call, columns); // the builders of maps keep what they held when they raised
      }
    }
    return found;
  }

  private static Expression bound(Expression expression, Object columns) {
    return BindReferences.bindReference(
        expression, (org.apache.spark.sql.catalyst.expressions.package$AttributeSeq) columns, false);
  }
}
