"""What engines support: the dialect files and the questions that the producer asks of them."""
