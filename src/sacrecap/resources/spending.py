"""What requests to an endpoint cost, and a budget that holds while several are under way."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sacrecap.errors import SacrecapError, UsageError
from sacrecap.resources.replies import Answer


@dataclass
class Usage:
    """What an endpoint was asked, and what it cost; tokens of a dry run are expected ones."""

    dry_run: bool = False
    asked: int = 0
    """Requests that were answered; of a dry run, those that would be made."""
    kept: int = 0
    """Answers that were there from before."""
    refused: int = 0
    failed: int = 0
    """Requests without an answer: not accepted, such as images that are too large, or met by faults alone."""
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = None
    """None without a price."""

    def __bool__(self) -> bool:
        """Whether there was anything to ask."""
        return self.asked + self.kept > 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON of results."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        most, about = ("at most ", "about ") if self.dry_run else ("", "")
        money = "" if self.money is None else f"{self.money:,.6f}".rstrip("0").rstrip(".")
        parts = (
            "dry run, nothing was asked" * self.dry_run,
            f"{self.asked:,} requests, {about}{self.tokens_in:,} tokens in, {most}{self.tokens_out:,} out",
            money and f"{most}{money} in money",
            f"{self.refused:,} refused" * bool(self.refused),
            f"{self.failed:,} not answered" * bool(self.failed),
            f"{self.kept:,} answers were there from before" * bool(self.kept),
        )
        return "; ".join(filter(None, parts))


class Spending:
    """The usage of an endpoint, and its budget: see `Endpoint`. Raises `UsageError` for what is no budget."""

    def __init__(self, budget: float | str | None, price: tuple[float, float] | None, *, dry_run: bool) -> None:
        self.price = price
        self.limit: float | None = None
        self.counts_tokens = False
        if budget is not None:
            written = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(tokens?)?\s*", str(budget))
            if written is None or float(written[1]) <= 0:
                raise UsageError(f"a budget is money, such as 5, or tokens, such as '200000 tokens', got {budget!r}")
            if written[2] is None and price is None:
                needed = "a budget of money needs the price of a million tokens in and out, too"
                raise UsageError(f"{needed}; or give it in tokens, as '200000 tokens'")
            self.limit, self.counts_tokens = float(written[1]), written[2] is not None
        self.usage = Usage(dry_run, money=None if price is None else 0.0)
        self._changed = threading.Condition()
        self.reserved: list[float] = []
        """What each request that is asked now may cost."""

    @contextmanager
    def reserving(self, tokens_in: int, tokens_out: int) -> Iterator[None]:
        """The budget has room for so many tokens within the block, after waiting; or raises `SacrecapError`."""
        cost = self._cost(tokens_in, tokens_out)
        with self._changed:
            while self.limit is not None:
                spent = self._cost(self.usage.tokens_in, self.usage.tokens_out)
                if spent + sum(self.reserved) + cost <= self.limit:
                    break
                if not self.reserved:
                    unit = " tokens" if self.counts_tokens else ""
                    raise SacrecapError(
                        "a budget is kept by one process; leave it out where several ask, or score in one process"
                        if self.limit == 0
                        else f"the budget of {self.limit:g}{unit} has no room for another request ({self.usage}); what "
                        "was answered is kept: give a larger one to go on"
                    )
                self._changed.wait()
            self.reserved.append(cost)
        try:
            yield
        finally:
            with self._changed:
                self.reserved.remove(cost)
                self._changed.notify_all()

    def count(self, answer: Answer) -> None:
        """Counts an answer, whose request is not repeated."""
        with self._changed:
            usage = self.usage
            usage.asked += 1
            usage.refused += answer.end == "refused"
            usage.failed += answer.end == "error"
            usage.tokens_in += answer.tokens_in
            usage.tokens_out += answer.tokens_out
            if self.price is not None:
                usage.money = self._money(usage.tokens_in, usage.tokens_out)

    def count_retry(self) -> None:
        """Counts a request that is made again."""
        with self._changed:
            self.usage.retries += 1

    def _cost(self, tokens_in: int, tokens_out: int) -> float:
        return float(tokens_in + tokens_out) if self.counts_tokens else self._money(tokens_in, tokens_out)

    def _money(self, tokens_in: int, tokens_out: int) -> float:
        price_in, price_out = self.price or (0.0, 0.0)
        return (tokens_in * price_in + tokens_out * price_out) / 1e6
