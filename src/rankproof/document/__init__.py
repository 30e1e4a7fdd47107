"""What can be printed, whatever it is about: numbers, tables, pages, drawings."""
