"""Making a test set: pools of documents to judge, labels, questions drawn from a corpus, checks, splits."""
