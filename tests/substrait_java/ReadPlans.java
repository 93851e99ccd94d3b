import io.substrait.extension.DefaultExtensionCatalog;
import io.substrait.extension.SimpleExtension;
import io.substrait.extension.SimpleExtension.ExtensionCollection;
import io.substrait.plan.PlanProtoConverter;
import io.substrait.plan.ProtoPlanConverter;
import io.substrait.proto.Plan;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the plans in a folder into the relations of substrait-java, and writes them anew into another folder. */
class ReadPlans {
  public static void main(String[] arguments) throws IOException {
    Path extensionFile = Path.of(arguments[0]);
    Path plans = Path.of(arguments[1]);
    Path written = Path.of(arguments[2]);
    ExtensionCollection functions = DefaultExtensionCatalog.DEFAULT_COLLECTION;
    try (InputStream content = Files.newInputStream(extensionFile)) {
      functions = functions.merge(SimpleExtension.load(content));
    }
    ProtoPlanConverter reader = new ProtoPlanConverter(functions);
    PlanProtoConverter writer = new PlanProtoConverter(functions);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(plans)) {
      for (Path file : files) {
        try {
          Plan plan = Plan.parseFrom(Files.readAllBytes(file));
          Files.write(written.resolve(file.getFileName()), writer.toProto(reader.from(plan)).toByteArray());
        } catch (RuntimeException error) {
          System.out.println(file.getFileName() + ": " + error);
        }
      }
    }
  }
}
