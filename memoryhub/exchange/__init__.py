"""A project's memory in and out whole: snapshots, what two of them say differently, backups of the hub."""
