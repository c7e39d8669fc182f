"""The record of calls: noted while they are answered, kept a moment later, read by those it concerns."""
