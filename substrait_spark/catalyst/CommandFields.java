package substrait_spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.sources.DataSourceRegister;

/**
 * What commands say of themselves, as JSON: their class, and those of their fields that may be told.
 *
 * <p>Compiled by Janino as PlanReader is, and after it.
 */
public class CommandFields {
  public abstract static class Writer {
    /** Writes a field's value that not every reader of commands tells; nothing for one that this reader doesn't tell. */
    public abstract void other(Object value, StringBuilder out);

    /** Writes the beginning of an object: its class, and its fields. */
    public void begin(scala.Product product, StringBuilder out) {
      text(PlanReader.Walk.simpleName(product.getClass()), out.append("{\"class\":"));
      String[] names = PlanReader.Walk.fieldNames(product);
      for (int i = 0; i < names.length; i++) {
        StringBuilder written = new StringBuilder();
        value(product.productElement(i), written);
        if (written.length() == 0) continue;
        text(names[i], out.append(','));
        out.append(':').append(written);
      }
    }

    public void value(Object value, StringBuilder out) {
      if (value instanceof scala.Some) value(((scala.Some) value).get(), out);
      else if (value instanceof Boolean) out.append(value);
      else if (value instanceof String || value instanceof java.net.URI || value instanceof Enum) text(value, out);
      else if (value instanceof Path) text(((Path) value).toUri(), out);
      else if (value instanceof Attribute) text(((Attribute) value).name(), out);
      else if (value instanceof Transform) text(((Transform) value).describe(), out);
      else if (value instanceof DataSourceRegister) text(((DataSourceRegister) value).shortName(), out);
      else if (value instanceof TableIdentifier) sequence(PlanReader.Walk.javaIterator(((TableIdentifier) value).nameParts()), out);
      else if (value instanceof ResolvedIdentifier) named(((ResolvedIdentifier) value).catalog(), ((ResolvedIdentifier) value).identifier(), out);
      else if (value instanceof LogicalRelation) value(((LogicalRelation) value).catalogTable(), out);
      else if (value instanceof scala.collection.Seq) sequence(PlanReader.Walk.javaIterator(value), out);
      else other(value, out);
    }

    public void text(Object value, StringBuilder out) {
      PlanReader.Walk.string(value.toString(), out);
    }

    public void named(CatalogPlugin catalog, Identifier identifier, StringBuilder out) {
      List parts = new ArrayList();
      parts.add(catalog.name());
      identifier(identifier, parts, out);
    }

    /** Writes a table's name behind the parts that are known. */
    public void identifier(Identifier identifier, List parts, StringBuilder out) {
      parts.addAll(Arrays.asList(identifier.namespace()));
      parts.add(identifier.name());
      sequence(parts.iterator(), out);
    }

    private void sequence(Iterator elements, StringBuilder out) {
      out.append('[');
      while (elements.hasNext()) {
        StringBuilder element = new StringBuilder();
        value(elements.next(), element);
        if (element.length() == 0) continue;
        out.append(out.charAt(out.length() - 1) == '[' ? "" : ",").append(element);
      }
      out.append(']');
    }
  }
}
