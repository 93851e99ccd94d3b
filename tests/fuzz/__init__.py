"""Random typed queries over nasty tables: Spark's rows against DataFusion's on our plan."""
