"""Printable documents, whatever their subject: numbers, tables, pages, drawings."""
