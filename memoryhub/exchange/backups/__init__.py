"""The whole store of a hub in one file, and back: everything that the database holds, accounts included."""

from memoryhub.exchange.backups.keeping import Kept, back_up, restore

__all__ = ["Kept", "back_up", "restore"]
