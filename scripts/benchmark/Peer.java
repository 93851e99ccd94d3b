package substrait_spark;

import io.substrait.spark.logical.ToSubstraitRel;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Converts with substrait-java's Spark module, and tells how long that took: it would wait for Python otherwise. */
public final class Peer {
    /** Nanoseconds from the plan to the bytes of the message; what is thrown says why there are none. */
    public long convert(Object plan) {
        long began = System.nanoTime();
        new ToSubstraitRel().toProtoSubstrait((LogicalPlan) plan);
        return System.nanoTime() - began;
    }
}
