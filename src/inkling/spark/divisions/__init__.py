"""How rows are divided among workers where keys do not do it."""
