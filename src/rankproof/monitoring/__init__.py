"""What users meet in production: events of a log, online metrics, change, drift, alerts."""
