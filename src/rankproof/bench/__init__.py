"""What is done with several systems at once, apart from scoring them."""
