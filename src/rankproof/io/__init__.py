"""Bytes and frames to rows and back."""
