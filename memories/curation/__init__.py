"""What people do with several memories of a list at once: choosing them, saying what, seeing it, doing it."""
