"""Plans of statements, none of which runs: of queries and what is written, of rows that change, of tables without rows."""
