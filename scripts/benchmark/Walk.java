package substrait_spark;

/** Times the walk over an optimized plan inside the JVM, without the way to Python. */
public final class Walk {
    /** Nanoseconds from the plan to the document; `reader` is the library's own. */
    public long walk(Object reader, Object dataset, int inlineLimit, int listFiles) throws Exception {
        long began = System.nanoTime();
        ((PlanReader) reader).document(dataset, inlineLimit, listFiles, false, false);
        return System.nanoTime() - began;
    }
}
