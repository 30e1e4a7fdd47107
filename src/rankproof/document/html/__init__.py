"""Pages in one file each: markup, style, drawings."""
