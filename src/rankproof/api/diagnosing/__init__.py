"""What a diagnosis is made of: the evidence about each query, and changes tried on the spot."""
