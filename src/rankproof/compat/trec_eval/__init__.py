"""The command line of trec_eval over the measures of rankproof."""
