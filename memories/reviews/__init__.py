"""Proposed changes: which there are, who may read them, and what they would change."""
