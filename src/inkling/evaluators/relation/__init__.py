"""Relations between segments some of whose ends were lost: how probable they are, without worlds."""
