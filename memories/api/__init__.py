"""The REST door to memories and reviews."""
