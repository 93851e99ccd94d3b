"""What DataFusion gets wrong, and the forms that keep it from that: one module a subject."""
