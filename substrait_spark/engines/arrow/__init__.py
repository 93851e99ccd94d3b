"""What engines that take Arrow share: schemas, values, inputs, and functions that Python computes over its arrays."""
