"""Running and combining several systems, apart from scoring them."""
