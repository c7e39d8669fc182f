from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    """Snapshots in and out, and what two of them said differently."""

    name = "memoryhub.exchange"
    label = "exchange"
    verbose_name = "Exchange"

    def ready(self) -> None:
        from django.conf import settings

        from memories.services import register_forgetter
        from memoryhub.exchange.conflicts import forget_conflicts
        from memoryhub.exchange.snapshot_kind import SnapshotKind
        from memoryhub.exchange.uploading import drop_old_uploads
        from memoryhub.exchange.uploads import register_upload
        from memoryhub.kernel.jobs import Job, register_job
        from memoryhub.kernel.middleware import register_large_bodies

        register_forgetter(forget_conflicts)
        register_upload(SnapshotKind())
        register_job(Job("uploads", drop_old_uploads))
        for address in (r"/p/[^/]+/exchange/", r"/api/v1/projects/[^/]+/snapshot"):
            register_large_bodies(address, lambda: settings.IMPORT_MAX_BYTES)
