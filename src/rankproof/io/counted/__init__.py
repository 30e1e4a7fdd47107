"""Rankings that stay in an engine: it counts where judged documents stand, and hands over the counts alone."""
