"""Proposed changes: made by `submit_change` alone, decided by a person or by a reviewer's agent."""
