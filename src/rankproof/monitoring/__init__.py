"""Production logs: events, online metrics, change, drift, alerts."""
