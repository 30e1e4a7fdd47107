"""Where results are remembered: one SQLite file, safe under several writers and a crash."""
