"""Units of text, with the places they stand at: sentences, words, claims, numbers, entities."""
