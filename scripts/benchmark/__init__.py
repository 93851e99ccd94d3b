"""How long exporting takes beside Spark's planning, and how it grows: `make bench`."""
