"""The Plan message: its declarations, parameters, provenance and type aliases, and what it asks of a reader."""
