from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    """Snapshots in and out, and what two of them said differently."""

    name = "memoryhub.exchange"
    label = "exchange"
    verbose_name = "Exchange"

    def ready(self) -> None:
        from memories.services import register_forgetter
        from memoryhub.exchange.conflicts import forget_conflicts

        register_forgetter(forget_conflicts)
