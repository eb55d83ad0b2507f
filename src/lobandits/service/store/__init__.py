"""The store of a service: SQLite in one file, or PostgreSQL."""
