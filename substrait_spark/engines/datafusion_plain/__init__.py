"""DataFusion as servers built on it have it: without Spark's functions, and without what `engines.datafusion` does around it."""
