"""Talking to another side over HTTP: pace, retries and clients."""
