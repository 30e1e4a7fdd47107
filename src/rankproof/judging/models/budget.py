"""What may be spent: calls, tokens, money; asked before each call, by its expected size."""

from __future__ import annotations

from dataclasses import dataclass, field

from rankproof.display import Displayable
from rankproof.judging.models.prices import price
from rankproof.judging.verdicts import Account


@dataclass
class Budget(Displayable):
    """The limits, and what was spent so far; None is no limit."""

    model: str
    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    """In US dollars."""
    spent: Account = field(default_factory=Account)
    _under_way: list[tuple[int, int]] = field(default_factory=list)

    def refuses(self, prompt_tokens: int, reply_tokens: int) -> str:
        """Why a call of that size cannot be afforded; empty where it can, and then it is under way."""
        waiting_prompt = sum(each[0] for each in self._under_way) + prompt_tokens
        waiting_reply = sum(each[1] for each in self._under_way) + reply_tokens
        used = self.spent.prompt_tokens + self.spent.reply_tokens
        if self.calls is not None and self.spent.calls + len(self._under_way) >= self.calls:
            return f"the budget of {self.calls:,} calls is spent"
        if self.tokens is not None and used + waiting_prompt + waiting_reply > self.tokens:
            return f"the budget of {self.tokens:,} tokens is spent"
        if self.money is not None and self._cost(waiting_prompt, waiting_reply) > self.money:
            return f"the budget of ${self.money:g} is spent"
        self._under_way.append((prompt_tokens, reply_tokens))
        return ""

    def _cost(self, prompt_tokens: int, reply_tokens: int) -> float:
        more = price(self.model, prompt_tokens, reply_tokens) or 0.0
        return (self.spent.money or 0.0) + more

    def book(
        self, reserved: tuple[int, int], prompt_tokens: int, reply_tokens: int, share: float = 1.0
    ) -> float | None:
        """Write down what a call took in the end, and say what it cost."""
        self._under_way.remove(reserved)
        self.spent.calls += 1
        self.spent.prompt_tokens += prompt_tokens
        self.spent.reply_tokens += reply_tokens
        usual = price(self.model, prompt_tokens, reply_tokens)
        cost = None if usual is None else usual * share
        if cost is not None:
            self.spent.money = (self.spent.money or 0.0) + cost
        return cost
