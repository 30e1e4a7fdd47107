"""What tokens cost, as far as it is known; and how many tokens a text is, roughly."""

from __future__ import annotations

from functools import lru_cache

CALLED = {"gemini": "google", "bedrock": "aws"}
"""What the list of prices calls a provider, where it is another name."""


@lru_cache(4096)
def price(model: str, prompt_tokens: int, reply_tokens: int) -> float | None:
    """US dollars for that many tokens of a model (`provider:name`); None where the price is not known."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    provider, _, name = model.partition(":")
    provider = CALLED.get(provider, provider)
    try:
        usage = Usage(input_tokens=prompt_tokens, output_tokens=reply_tokens)
        return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)
    except LookupError:
        return None


def tokens_in(text: str) -> int:
    """About how many tokens a text has, rather too many: a quarter of its ASCII characters, all of the others.

    >>> tokens_in("twelve chars"), tokens_in("検索")
    (4, 3)
    """
    plain = len(text.encode("ascii", "ignore"))
    return plain // 4 + len(text) - plain + 1
