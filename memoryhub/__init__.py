"""MemoryHub: the shared memory of projects in which people and AI agents work side by side."""

__version__ = "0.1.0"
