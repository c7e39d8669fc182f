"""The REST door to work in flight: tasks, receipts, checkpoints, the context, and the lifecycle's moments."""
