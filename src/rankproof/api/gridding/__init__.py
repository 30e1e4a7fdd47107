"""How a grid is run: its data, its configurations one after the other, and what each came to."""
