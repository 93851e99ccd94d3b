"""The functions of functions_spark.yaml: Spark's functions, most by the same names, in the mode that the file states."""
