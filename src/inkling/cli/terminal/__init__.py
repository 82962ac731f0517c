"""What commands write on a terminal: errors, progress, counts; and how an interrupt stops them."""
