"""Units of text with their places: words, sentences, claims, numbers, dates, entities; tables of words beside them."""
