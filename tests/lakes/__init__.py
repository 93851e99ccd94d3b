"""Tests of lake tables with the published archives of Iceberg and Delta (make lakes)."""
