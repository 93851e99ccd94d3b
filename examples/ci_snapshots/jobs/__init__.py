"""The nightly jobs of a web shop."""
