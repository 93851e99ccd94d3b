"""Plan messages, whoever made them, as the tree."""
