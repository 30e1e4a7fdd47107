"""Units of text with their places: words, sentences, claims, numbers, dates, entities; and tables of words."""
