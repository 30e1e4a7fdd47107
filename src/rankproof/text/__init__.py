"""Units of text, with the places they stand at: words, sentences, claims, numbers, dates, entities."""
