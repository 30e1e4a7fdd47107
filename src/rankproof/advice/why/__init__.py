"""Why single queries fare badly: rules as data, each a question to the evidence about one query."""
