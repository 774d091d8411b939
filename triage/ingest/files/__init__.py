"""What people hand over: incident folders, recordings as Parquet, scrapes saved as files."""
