import io.substrait.extension.DefaultExtensionCatalog;
import io.substrait.extension.SimpleExtension;
import io.substrait.extension.SimpleExtension.ExtensionCollection;
import io.substrait.isthmus.SubstraitToSql;
import io.substrait.plan.Plan;
import io.substrait.plan.ProtoPlanConverter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.calcite.sql.SqlDialect.DatabaseProduct;

/** Reads plans by substrait-java's core, or makes SQL of them by Isthmus, and writes why for each of which it can't. */
class TakePlans {
  public static void main(String[] arguments) throws IOException {
    boolean makesSql = arguments[0].equals("isthmus");
    ExtensionCollection functions = DefaultExtensionCatalog.DEFAULT_COLLECTION;
    try (InputStream content = Files.newInputStream(Path.of(arguments[1]))) {
      functions = functions.merge(SimpleExtension.load(content));
    }
    ProtoPlanConverter reader = new ProtoPlanConverter(functions);
    SubstraitToSql converter = new SubstraitToSql(functions);
    for (int n = 2; n < arguments.length; n++) {
      Path file = Path.of(arguments[n]);
      try {
        Plan plan = reader.from(io.substrait.proto.Plan.parseFrom(Files.readAllBytes(file)));
        if (makesSql) {
          converter.convert(plan, DatabaseProduct.DUCKDB.getDialect());
        }
      } catch (RuntimeException | AssertionError error) {
        System.out.println(file.getFileName() + ": " + String.valueOf(error).lines().findFirst().orElse(""));
      }
    }
  }
}
