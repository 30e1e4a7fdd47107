"""Values to text: numbers, tables, terminal, markdown, LaTeX."""
