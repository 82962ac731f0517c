"""The commands, one thin file each, by what they are about."""
