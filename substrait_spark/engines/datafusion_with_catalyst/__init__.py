"""DataFusion, and Catalyst in Spark's JVM for the expressions that it lacks: for plans that run beside a classic Spark session."""
