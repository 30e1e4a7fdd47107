"""What numbers mean and what to do next: bands, causes and remedies as data, each with the evidence it needs."""
