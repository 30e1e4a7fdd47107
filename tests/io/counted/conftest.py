from tests.bench.connect.conftest import postgres_at

__all__ = ["postgres_at"]
