"""Talking to another side over HTTP: retries and pace, secrets, clients."""
