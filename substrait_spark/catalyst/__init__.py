"""Reading Spark: the only package that touches py4j or the JVM."""
