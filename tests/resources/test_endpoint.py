"""The client of endpoints: faults, the key, the budget, the database of answers; all over loopback."""

from __future__ import annotations

import base64
import io
import json
import logging
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fake_endpoint import BROKEN, BUSY, MODEL, FakeEndpoint, QuickClock, Reply, always
from sacrecap import Endpoint
from sacrecap.errors import DataError, SacrecapError, SacrecapWarning, UsageError
from sacrecap.resources import endpoint as module
from sacrecap.resources.endpoint import Question, key_for

PNG = b"\x89PNG and more"
SECRET = "sk-of-nobody-0123456789"  # noqa: S105


@pytest.fixture
def answers(tmp_path: Path) -> str:
    return str(tmp_path / "folder" / "answers.sqlite")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> QuickClock:
    return QuickClock(monkeypatch)


def texts(*said: str) -> list[Question]:
    return [Question(text) for text in said]


def rows(answers: str) -> int:
    with sqlite3.connect(answers) as database:
        [[count]] = database.execute("SELECT count(*) FROM answers")
    database.close()
    return int(count)


def test_each_question_is_asked_once_and_kept(answers: str) -> None:
    with FakeEndpoint(lambda body, _: Reply(f"re: {body['messages'][0]['content']}")) as fake:
        first = Endpoint(fake.url, "judge", answers=answers, price=(1.0, 10.0))
        said = first.ask(texts("a", "b", "a"))
        assert [answer.text for answer in said] == ["re: a", "re: b", "re: a"]
        assert len(fake.requests) == 2
        assert (first.usage.asked, first.usage.kept, first.usage.tokens_in, first.usage.tokens_out) == (2, 0, 200, 20)
        assert first.usage.money == pytest.approx(2 * (100 * 1 + 10 * 10) / 1e6)
        assert first.models == {MODEL}
        assert first.ask(texts("b")) == [said[1]]
        assert first.usage.kept == 0, "it was answered here"
        second = Endpoint(fake.url + "/", "judge", answers=answers)
        assert second.ask(texts("b", "a")) == [said[1], said[0]]
        assert (second.usage.asked, second.usage.kept, second.usage.money) == (0, 2, None)
        assert len(fake.requests) == 2


@pytest.mark.parametrize(
    "other",
    [
        Question("b", (lambda: PNG,)),
        Question("a", (lambda: PNG + b"!",)),
        Question("a"),
        Question("a", (lambda: PNG,), tokens=9),
        Question("a", (lambda: PNG,), temperature=0.5),
        Question("a", (lambda: PNG,), top_p=0.5),
        Question("a", (lambda: PNG,), alternatives=5),
        Question("a", (lambda: PNG,), seed=1),
    ],
)
def test_another_question_has_another_answer(answers: str, other: Question) -> None:
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask([Question("a", (lambda: PNG,)), other])
        assert len(fake.requests) == 2


def test_how_a_model_is_asked_is_said_by_name() -> None:
    """Numbers by place once changed their meaning when a parameter came between them."""
    with pytest.raises(TypeError):
        Question("a", (), 9)  # type: ignore[misc]


def test_another_model_or_endpoint_never_gets_the_answer(answers: str) -> None:
    with always("one") as fake, always("two") as other:
        for url, model, text in [(fake.url, "a", "one"), (fake.url, "b", "one"), (other.url, "a", "two")]:
            assert Endpoint(url, model, answers=answers).ask(texts("q"))[0].text == text
        assert (len(fake.requests), len(other.requests)) == (2, 1)
    assert rows(answers) == 3


def test_images_are_sent_as_they_are(answers: str) -> None:
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask([Question("what?", (lambda: PNG,), alternatives=7, seed=3)])
        [asked] = fake.requests
    [picture, text] = asked.body["messages"][0]["content"]
    assert picture["image_url"]["url"] == "data:image/png;base64,iVBORyBhbmQgbW9yZQ=="
    assert text == {"type": "text", "text": "what?"}
    del asked.body["messages"]
    assert asked.body == {
        "model": "judge",
        "max_tokens": 256,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 7,
        "seed": 3,
    }


FAULTS = [BUSY, BROKEN, Reply(raw=b'{"choices": ['), Reply("cut", cut=True), Reply(raw=b"{}")]


def test_faults_are_asked_again(answers: str) -> None:
    with FakeEndpoint(lambda _, times: [*FAULTS, Reply("well")][min(times, len(FAULTS) + 1) - 1]) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=1)
        assert [answer.text for answer in endpoint.ask(texts("a", "b"))] == ["well"] * 2
        assert len(fake.requests) == 2 * (len(FAULTS) + 1)
        assert endpoint.usage.asked == 2
        assert endpoint.usage.retries == 2 * len(FAULTS)
    assert rows(answers) == 2


def test_what_is_not_answered_in_time_is_asked_again(answers: str) -> None:
    with FakeEndpoint(lambda _, times: Reply("well", wait=600.0 if times == 1 else 0.0)) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, timeout=0.5)
        assert endpoint.ask(texts("a"))[0].text == "well"
        assert endpoint.usage.retries >= 1
    assert rows(answers) == 1


def test_an_endpoint_that_never_answers_ends_the_call_and_keeps_the_rest(answers: str) -> None:
    down = False

    def answer(body: dict[str, Any], _: int) -> Reply:
        return Reply(status=500, error={"message": "a fault"}) if down else Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=4)
        endpoint.ask(texts("a", "b"))
        down = True
        with (
            pytest.warns(SacrecapWarning, match="does not answer for the moment .500 a fault.: waiting for it"),
            pytest.raises(SacrecapError, match="does not answer: .*500.*a fault.*kept: run it again to go on"),
        ):
            endpoint.ask(texts("a", *map(str, range(20))))
        assert rows(answers) == 2
        assert len({one.text for one in fake.requests}) <= 2 + 4, "no other one was begun"
        down = False
        assert endpoint.ask(texts("a", "never"))[1].text == "yes"
    with (
        pytest.warns(SacrecapWarning, match="waiting"),
        pytest.raises(SacrecapError, match="does not answer: Connection error"),
    ):
        Endpoint(fake.url, "judge", answers=answers).ask(texts("new"))


@pytest.mark.parametrize(
    ("status", "said"), [(401, "the key with key_env=NAME"), (403, "may use this model"), (404, "name of the model")]
)
def test_what_nobody_would_be_answered_is_not_tried_again(answers: str, status: int, said: str) -> None:
    with FakeEndpoint(lambda *_: Reply(status=status, error={"message": "no"})) as fake:
        with pytest.raises(SacrecapError, match=said):
            Endpoint(fake.url, "judge", answers=answers, at_once=1).ask(texts("a", "b", "c"))
        assert len(fake.requests) == 1


def test_a_redirection_is_not_followed(answers: str) -> None:
    with always("stolen") as other, FakeEndpoint(lambda *_: Reply(status=307, headers={"location": other.url})) as fake:
        with pytest.raises(SacrecapError, match="if you trust it"):
            Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        assert not other.requests


def test_one_request_that_is_not_accepted_is_counted(answers: str) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        return Reply(status=400, error={"message": "too large"}) if "large" in str(body) else Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers)
        with pytest.warns(SacrecapWarning, match="did not accept a request: .*too large"):
            assert [answer.end for answer in endpoint.ask(texts("a", "large", "c"))] == ["stop", "error", "stop"]
        assert (endpoint.usage.asked, endpoint.usage.failed) == (3, 1)
    assert rows(answers) == 2, "it is asked again next time"


def test_refusals_are_counted_and_kept(answers: str) -> None:
    replies = {
        "a": Reply("", refusal="I would rather not."),
        "b": Reply("", finish="content_filter"),
        "c": Reply(status=400, error={"message": "no", "code": "content_filter"}),
        "d": Reply("half an ans", finish="length"),
    }
    with FakeEndpoint(lambda body, _: replies[body["messages"][0]["content"]]) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers)
        assert [one.end for one in endpoint.ask(texts(*replies))] == ["refused", "refused", "refused", "length"]
        assert endpoint.usage.refused == 3
    assert rows(answers) == 4


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ("logprobs", {"max_tokens", "temperature"}),
        ("temperature", {"max_tokens", "logprobs", "top_logprobs"}),
        ("max_tokens", {"max_completion_tokens", "temperature", "logprobs", "top_logprobs"}),
    ],
)
def test_a_parameter_that_the_endpoint_does_not_know_is_left_out(answers: str, refused: str, left: set[str]) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        if refused in body:
            return Reply(status=400, error={"message": f"Unsupported parameter: '{refused}'", "param": refused})
        return Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=1)
        [one, other] = endpoint.ask([Question("a", alternatives=5), Question("b", alternatives=5)])
        assert one.without == other.without
        assert refused in one.without
        assert len(fake.requests) == 3, "it is tried once"
        assert fake.requests[-1].body.keys() - {"model", "messages"} == left


def test_answers_of_several_models_are_refused(answers: str) -> None:
    with FakeEndpoint(lambda body, _: Reply("yes", model="new" if "b" in str(body["messages"]) else "old")) as fake:
        endpoint = Endpoint(fake.url, "latest", answers=answers)
        endpoint.ask(texts("a"))
        with pytest.raises(SacrecapError, match="several models for latest: new, old"):
            Endpoint(fake.url, "latest", answers=answers).ask(texts("a", "b"))


def test_a_budget_holds(answers: str) -> None:
    with always("yes") as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, budget="1000 tokens")
        with pytest.raises(SacrecapError, match="the budget of 1000 tokens has no room .*give a larger one to go on"):
            endpoint.ask(texts(*map(str, range(100))))
        assert 0 < endpoint.usage.tokens_in + endpoint.usage.tokens_out <= 1000
        assert rows(answers) == endpoint.usage.asked == len(fake.requests)
        again = Endpoint(fake.url, "judge", answers=answers, budget=3e-3, price=(5.0, 5.0), at_once=3)
        with pytest.raises(SacrecapError, match="the budget of 0.003 has no room"):
            again.ask(texts(*map(str, range(100))))
        assert 0 < (again.usage.money or 0) <= 3e-3
        rest = Endpoint(fake.url, "judge", answers=answers, budget=1e6, price=(5.0, 5.0))
        rest.ask(texts(*map(str, range(100))))
        assert len(fake.requests) == 100 == rest.usage.asked + rest.usage.kept


def test_a_budget_that_a_request_uses_up_is_enough(answers: str) -> None:
    [question] = texts("a")
    needed = sum(question.expected_tokens)
    with always("yes") as fake:
        with pytest.raises(SacrecapError, match="has no room"):
            Endpoint(fake.url, "judge", answers=answers, budget=f"{needed - 1} tokens").ask([question])
        assert Endpoint(fake.url, "judge", answers=answers, budget=f"{needed} tokens").ask([question])[0].text == "yes"


def test_another_process_has_no_budget_of_its_own(answers: str) -> None:
    with always("yes") as fake:
        free = pickle.loads(pickle.dumps(Endpoint(fake.url, "judge", answers=answers)))
        assert free.ask(texts("a"))[0].text == "yes"
        bound = pickle.loads(pickle.dumps(Endpoint(fake.url, "judge", answers=answers, budget="100000 tokens")))
        assert bound.ask(texts("a"))[0].text == "yes", "what is kept costs nothing"
        with pytest.raises(SacrecapError, match="a budget is kept by one process"):
            bound.ask(texts("b"))


def test_a_dry_run_asks_nothing(answers: str) -> None:
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        dry = Endpoint(fake.url, "judge", answers=answers, dry_run=True, price=(1.0, 2.0))
        assert [one.end for one in dry.ask([*texts("a", "b"), Question("b", (lambda: PNG,))])] == [
            "stop",
            "unasked",
            "unasked",
        ]
        assert len(fake.requests) == 1
        assert (dry.usage.asked, dry.usage.kept, dry.usage.tokens_out) == (2, 1, 512)
        assert dry.usage.tokens_in > module.TOKENS_AN_IMAGE
        assert str(dry.usage).startswith("dry run, nothing was asked; 2 requests, about ")
        assert str(dry.usage).endswith("in money; 1 answers were there from before")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"url": "localhost:8000"}, "begins with http"),
        ({"url": f"https://{SECRET}@host/v1"}, "a name, a key or a question in it"),
        ({"url": f"https://host/v1?key={SECRET}"}, "a name, a key or a question in it"),
        ({"budget": "5 euro"}, "a budget is money, such as 5, or tokens"),
        ({"budget": 0}, "a budget is money"),
        ({"budget": 5}, "needs the price"),
        ({"at_once": 0}, "at_once must be"),
        ({"per_minute": 0}, "per_minute is a number of requests above 0, got 0"),
        ({"image_size": 0}, "image_size must be"),
        ({"extra": {"stream": True}}, "stream is sacrecap's to set"),
        ({"extra": {"top_k": {1}}}, "extra takes parameters as an object of JSON"),
        ({"extra": ["top_k"]}, "extra takes parameters as an object of JSON"),
    ],
)
def test_what_cannot_be_used_is_named(how: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Endpoint(**{"url": "http://localhost:1/v1", "model": "m", **how})
    assert SECRET not in str(caught.value)


def test_the_key_goes_to_its_own_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("MINE", "other")
    assert key_for("https://api.openai.com/v1") == SECRET
    for url in ("https://api.openai.com.evil.org/v1", "https://openai.com/v1", "http://localhost:8000/v1"):
        assert key_for(url) is None
        assert key_for(url, key_env="MINE") == "other"
    for url in ("http://127.0.0.1:1/v1", "http://[::1]:1/v1", "http://127.9.9.9/v1"):
        assert key_for(url, key_env="MINE") == "other"
    for url in ("http://localhost.evil.org/v1", "http://10.0.0.1/v1", "http://api.openai.com/v1"):
        with pytest.raises(UsageError, match="over plain http"):
            key_for(url, key_env="MINE")
    with pytest.raises(UsageError, match="over plain http"):
        key_for("http://api.openai.com/v1")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        key_for("https://api.openai.com/v1")
    with pytest.raises(UsageError, match="YOURS is not set"):
        key_for("https://host/v1", key_env="YOURS")


def test_nothing_of_the_environment_is_sent_to_other_hosts(answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Mine: {SECRET}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        assert SECRET not in str(fake.requests[0].headers)
        assert "authorization" not in {name.lower() for name in fake.requests[0].headers}


def test_the_key_is_in_no_log_no_message_and_no_file(
    answers: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MINE", SECRET)
    caplog.set_level(logging.DEBUG)

    def answer(body: dict[str, Any], _: int) -> Reply:
        if "bad" in str(body):
            return Reply(status=401, error={"message": f"Incorrect API key provided: {SECRET}"})
        return Reply("yes")

    with FakeEndpoint(answer) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, key_env="MINE")
        endpoint.ask(texts("a"))
        assert fake.requests[0].headers["authorization"] == f"Bearer {SECRET}"
        with pytest.raises(SacrecapError) as caught:
            endpoint.ask(texts("bad"))
    assert "Incorrect API key provided: …" in str(caught.value)
    told = [str(caught.value), repr(endpoint), str(pickle.dumps(endpoint)), caplog.text]
    assert not [text for text in told if SECRET in text]
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in Path(answers).parent.iterdir())


def test_nothing_is_asked_whose_answer_cannot_be_kept(answers: str) -> None:
    Path(answers).parent.mkdir()
    Path(answers).write_bytes(b"no database at all, but long enough to be one" * 99)
    with always("yes") as fake:
        with pytest.raises(SacrecapError, match="answers cannot be kept there .*remove it"):
            Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        assert not fake.requests


def test_without_the_package_its_extra_is_named(answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ImportError, match=r"pip install 'sacrecap\[judge\]'"):
        Endpoint("http://localhost:1/v1", "judge", answers=answers).ask(texts("a"))


def test_progress_is_told(answers: str) -> None:
    shares: list[float] = []
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers).ask(texts("a", "b", "c", "d"), progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]


ASKING = """
import sys
from sacrecap import Endpoint
from sacrecap.resources.endpoint import Question
Endpoint(sys.argv[1], "judge", answers=sys.argv[2]).ask([Question(str(number)) for number in range(100)])
"""


def test_who_is_killed_goes_on_where_it_stopped(answers: str) -> None:
    """Lost are at most the answers that were on their way: as many as there are requests at once."""
    with always("yes", wait=0.01) as fake:
        command = [sys.executable, "-c", ASKING, fake.url, answers]
        process = subprocess.Popen(command)
        deadline = time.monotonic() + 120
        while len(fake.requests) < 30 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.poll() is None, "it was killed in the middle"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        Endpoint(fake.url, "judge", answers=answers).ask(texts(*map(str, range(100))))
        assert len(fake.requests) <= 100 + 8
        assert len({one.text for one in fake.requests}) == 100
    assert rows(answers) == 100


def streamed(text: str, *, whole: bool = True) -> Reply:
    """An event stream in the place of an answer."""
    pieces = [{"model": MODEL, "choices": [{"delta": {"content": part}}]} for part in (text[:1], text[1:])]
    events = [*map(json.dumps, pieces), *(["[DONE]"] if whole else [])]
    raw = "".join(f"data: {event}\n\n" for event in events).encode()
    return Reply(text if whole else "", raw=raw, headers={"content-type": "text/event-stream"})


ILL = Reply(more={"choices": None, "error": {"message": "Provider returned error", "code": 502}})
FLAGGED = Reply(status=403, error={"message": "Your input was flagged", "code": 403})
PAGE = Reply(raw=b"<!DOCTYPE html><title>502</title>", headers={"content-type": "text/html"})
FAULTS_OF_ALL_KINDS = [
    *(BUSY, BROKEN, ILL, PAGE, Reply(raw=b"{"), Reply(cut=True), streamed("12", whole=False), Reply(raw=b"[]")),
    *(Reply(status=503, headers={"retry-after-ms": "5"}), Reply(status=529), Reply(more={"choices": []})),
    Reply(more={"choices": None, "error": {"message": "overloaded", "code": 503}}),
]


def answered_in_any_form(text: str, chance: random.Random) -> Reply:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "7?"}]}, {"type": "text", "text": text}]
    odd = {"content": [{"token": text, "top_logprobs": [{"token": text, "logprob": "-1"}, None, {"logprob": 3}]}]}
    choice = {"message": {"content": text}, "finish_reason": "stop", "logprobs": odd}
    return chance.choice(
        [
            *(Reply(text), Reply(text, usage=None), streamed(text)),
            Reply(text, message={"content": parts}),
            Reply(text, more={"usage": {"prompt_tokens": 3, "completion_tokens": None}}),
            Reply(text, more={"choices": [choice]}),
        ]
    )


def faulty(seed: int) -> Callable[[dict[str, Any], int], Reply]:
    """Answers with the question's number, in any form. It refuses parameters, a third of the requests meet a fault of
    any kind first, of each hundred captions one is never answered, and one is flagged.
    """
    chance = random.Random(seed)

    def answer(body: dict[str, Any], times: int) -> Reply:
        text = body["messages"][0]["content"]
        for name in ("max_tokens", "temperature"):
            if name in body:
                return Reply(status=400, error={"message": f"Unsupported parameter: '{name}'", "param": None})
        if int(text) % 100 in (13, 14):
            return ILL if int(text) % 100 == 13 else FLAGGED
        if times < 5 and chance.random() < 1 / 3:
            return chance.choice(FAULTS_OF_ALL_KINDS)
        return answered_in_any_form(text, chance)

    return answer


@pytest.mark.parametrize("number", [100, pytest.param(10_000, marks=pytest.mark.soak)])
@pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")
def test_faults_lose_none_double_none_and_nothing_is_guessed(
    answers: str, number: int, record_property: Callable[[str, object], None]
) -> None:
    begun = time.monotonic()
    with FakeEndpoint(faulty(number)) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=32)
        found = endpoint.ask(texts(*map(str, range(number))))
    ends = {13: ("", "error"), 14: ("", "refused")}
    expected = [ends.get(each % 100, (str(each), "stop")) for each in range(number)]
    assert [("" if each.end == "error" else each.text, each.end) for each in found] == expected
    times = Counter(one.text for one in fake.requests if one.replied.text)
    assert times == Counter(text for text, _ in expected if text), "each is paid for once"
    assert rows(answers) == number - number // 100, "what is no answer is not kept"
    assert (endpoint.usage.asked, endpoint.usage.failed, endpoint.usage.refused) == (
        number,
        number // 100,
        number // 100,
    )
    record_property("requests, answers, seconds", (len(fake.requests), number, round(time.monotonic() - begun)))


def test_a_refused_parameter_is_left_out_of_each_request_under_way(answers: str) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        if "max_tokens" in body:
            return Reply(status=400, wait=0.05, error={"message": "use max_completion_tokens, not 'max_tokens'"})
        if "temperature" in body:
            return Reply(status=400, wait=0.05, error={"message": "no", "param": "temperature"})
        return Reply("yes")

    for at_once in (1, 8, 32):
        with FakeEndpoint(answer) as fake:
            endpoint = Endpoint(fake.url, f"judge {at_once}", answers=answers, at_once=at_once)
            found = endpoint.ask(texts(*map(str, range(40))))
            assert {(one.text, one.without) for one in found} == {("yes", ("max_tokens", "temperature"))}
            assert len(fake.answered) == 40
            assert fake.requests[-1].body["max_completion_tokens"] == 256
            assert len(fake.requests) <= 40 + 2 * at_once, "later ones know"


def test_a_parameter_that_one_request_alone_may_not_have_is_not_learned(answers: str) -> None:
    """Of a prompt that is too long a server says that max_tokens is too large: leaving it out helps nobody."""

    def answer(body: dict[str, Any], _: int) -> Reply:
        if "long" in body["messages"][0]["content"]:
            return Reply(status=400, error={"message": "max_tokens or max_completion_tokens is too large: 256"})
        return Reply("yes")

    with FakeEndpoint(answer) as fake:
        with pytest.warns(SacrecapWarning, match="too large: 256"):
            found = Endpoint(fake.url, "judge", answers=answers, at_once=1).ask(texts("long", "b"))
        assert [one.end for one in found] == ["error", "stop"]
        assert "max_tokens" in fake.requests[-1].body


@pytest.mark.parametrize(
    ("message", "told"),
    [("Cannot request more than 5 logprobs.", 5), ("top_logprobs must be between 0 and 8", 8), ("logprobs: no", 5)],
)
def test_fewer_alternatives_are_asked_for(answers: str, message: str, told: int) -> None:
    def answer(body: dict[str, Any], _: int) -> Reply:
        if body["top_logprobs"] > told:
            return Reply(status=400, error={"message": message})
        return Reply("yes")

    with FakeEndpoint(answer) as fake:
        found = Endpoint(fake.url, "judge", answers=answers).ask([Question(str(n), alternatives=20) for n in range(9)])
        assert {(one.alternatives, one.without) for one in found} == {(told, ())}


POISON = {
    "200 with an error": (ILL, "Provider returned error", "error"),
    "200 with nothing": (Reply(raw=b"{}"), "in place of an answer came '{}'", "error"),
    "an error of the choice": (
        Reply(more={"choices": [{"message": {"content": "1"}, "error": {"message": "upstream", "code": 502}}]}),
        "upstream",
        "error",
    ),
    "a page": (PAGE, "in place of an answer came a page: '<!DOCTYPE html>", "error"),
    "a stream that was cut": (streamed("85", whole=False), "an event stream: ", "error"),
    "a fault": (Reply(status=500, error={"message": "image model crashed"}), "500 image model crashed", "error"),
    "a closed connection": (Reply(cut=True), "Connection error", "error"),
    "flagged": (FLAGGED, "", "refused"),
    "forbidden": (Reply(status=403, error={"message": "not this one"}), "403 not this one", "error"),
    "moderated, in 200": (
        Reply(more={"choices": None, "error": {"code": 403, "message": "requires moderation"}}),
        "",
        "refused",
    ),
    "too large for a minute": (Reply(status=429, error={"message": "Request too large"}), "too large", "error"),
}


@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("what", POISON)
@pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")
def test_a_failure_belongs_to_one_request(answers: str, what: str, at_once: int) -> None:
    reply, words, end = POISON[what]
    with FakeEndpoint(
        lambda body, _: reply if "7" in body["messages"][0]["content"] else Reply("yes", wait=0.002)
    ) as f:
        endpoint = Endpoint(f.url, "judge", answers=answers, at_once=at_once)
        found = endpoint.ask(texts(*map(str, range(60))))
        ill = [one for number, one in enumerate(found) if "7" in str(number)]
        assert {one.end for one in found} == {"stop", end}
        assert {one.end for one in ill} == {end}
        assert all(words in one.text for one in ill)
        assert rows(answers) == 60 - (len(ill) if end == "error" else 0)
        assert endpoint.usage.refused + endpoint.usage.failed == len(ill)


def test_what_came_is_told(answers: str) -> None:
    for reply, words in ((PAGE, "a page: '<!DOCTYPE"), (ILL, "Provider returned error")):
        with (
            FakeEndpoint(lambda *_, reply=reply: reply) as fake,
            pytest.warns(SacrecapWarning, match="did not answer a request: .*") as told,
            pytest.raises(SacrecapError, match="does not answer: .*run it again to go on") as ended,
        ):
            Endpoint(fake.url, "judge", answers=answers).ask(texts(*map(str, range(40))))
        assert words in str(told[0].message)
        assert words in str(ended.value)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("yes", more={"usage": {"prompt_tokens": 7, "total_tokens": 7}}),
        Reply("yes", more={"usage": {"prompt_tokens": 7, "completion_tokens": "many"}}),
        Reply("yes", more={"usage": [7]}),
        Reply("yes", more={"model": None}),
        Reply("yes", message={"content": {"type": "text", "text": "yes"}}),
        Reply("yes", message={"content": ["y", {"type": "text", "text": "es"}, {"type": "image_url"}]}),
        Reply("yes", message={"reasoning_content": "no"}),
        Reply("yes", tokens=[("yes", {"yes": float("-9999.0"), "no": 0.5})]),
        Reply("yes", headers={"content-type": "text/plain"}),
        streamed("yes"),
    ],
)
def test_what_lies_beside_the_text_is_left_aside(answers: str, reply: Reply) -> None:
    with FakeEndpoint(lambda *_: reply) as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers)
        [found] = endpoint.ask(texts("a"))
        assert (found.text, found.end) == ("yes", "stop")
        assert found.tokens_in > 0
        assert found.tokens_out >= 0
        assert Endpoint(fake.url, "judge", answers=answers).ask(texts("a")) == [found]
        assert len(fake.requests) == 1


def test_what_is_no_answer_is_not_kept_and_what_cannot_be_read_is_asked_for_once_more(answers: str) -> None:
    says = {"empty": "", "odd": "hm", "cut": "{", "well": "8"}
    ends = {"cut": "length"}

    def answer(body: dict[str, Any], _: int) -> Reply:
        text = body["messages"][0]["content"]
        return Reply(says[text], finish=ends.get(text, "stop"))

    questions = [Question(text, reads=lambda said: int(said.text) if said.text.isdigit() else None) for text in says]
    with FakeEndpoint(answer) as fake:

        def asked() -> list[str]:
            before = len(fake.requests)
            found = Endpoint(fake.url, "judge", answers=answers, at_once=1).ask(questions)
            assert [one.text for one in found] == list(says.values())
            return [one.text for one in fake.requests[before:]]

        assert asked() == ["empty", "empty", "odd", "cut", "well"]
        assert rows(answers) == 3
        assert sorted(asked()) == ["cut", "empty", "empty", "odd"]
        assert asked() == ["empty", "empty"]
        says["empty"] = "9"
        assert asked() == ["empty"]
        assert asked() == []


def test_fifteen_requests_a_minute_are_waited_for(answers: str, quick: QuickClock) -> None:
    window, lock = {"begun": quick.now(), "count": 0.0}, threading.Lock()

    def answer(*_: Any) -> Reply:
        with lock:
            if quick.now() - window["begun"] >= 60:
                window.update(begun=quick.now(), count=0)
            window["count"] += 1
            return Reply(status=429, error={"message": "quota: 15"}) if window["count"] > 15 else Reply("yes")

    with FakeEndpoint(answer) as fake:
        begun = quick.now()
        with pytest.warns(
            SacrecapWarning, match=r"for the moment \(429 quota: 15\): waiting for it; .* per_minute=N spaces"
        ):
            found = Endpoint(fake.url, "judge", answers=answers).ask(texts(*map(str, range(60))))
        assert {one.text for one in found} == {"yes"}
        assert 180 <= quick.now() - begun < 600
        quick.pause(60, threading.Event())
        begun, before = quick.now(), len(fake.requests)
        spaced = Endpoint(fake.url, "spaced", answers=answers, per_minute=10)
        spaced.ask(texts(*map(str, range(30))))
        assert len(fake.requests) == before + 30, "none was refused"
        assert 29 * 60 / 10 <= quick.now() - begun < 260


@pytest.mark.parametrize("status", [503, 529, 502])
def test_an_endpoint_that_is_down_for_a_minute_is_waited_for(answers: str, status: int, quick: QuickClock) -> None:
    begun = quick.now()
    with (
        FakeEndpoint(lambda *_: Reply("yes") if quick.now() - begun > 70 else Reply(status=status)) as fake,
        pytest.warns(SacrecapWarning, match="waiting for it"),
    ):
        found = Endpoint(fake.url, "judge", answers=answers).ask(texts(*map(str, range(20))))
    assert {one.text for one in found} == {"yes"}


def test_a_time_that_the_endpoint_names_is_kept(answers: str, quick: QuickClock) -> None:
    replies = [Reply(status=429, headers={"retry-after": "65"}), Reply("yes")]
    with FakeEndpoint(lambda _, times: replies[times - 1]) as fake:
        begun = quick.now()
        with pytest.warns(SacrecapWarning, match="waiting for it"):
            Endpoint(fake.url, "judge", answers=answers).ask(texts("a"))
        assert 65 <= quick.now() - begun < 70
    for reply in (
        Reply(status=429, headers={"retry-after": "86400"}, error={"message": "tomorrow"}),
        Reply(status=429, error={"message": "tomorrow", "code": "insufficient_quota"}),
        Reply(status=402, error={"message": "tomorrow"}),
    ):
        with (
            FakeEndpoint(lambda *_, reply=reply: reply) as fake,
            pytest.raises(SacrecapError, match="tomorrow.*; what was answered is kept"),
        ):
            Endpoint(fake.url, "judge", answers=answers, at_once=1).ask(texts("a", "b"))
        assert len(fake.requests) == 1


def test_parameters_of_the_server_are_sent_and_are_part_of_the_question(answers: str) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "max_tokens": 9}
    with always("yes") as fake:
        for how in ({}, {"extra": extra}, {"extra": extra}, {"extra": {"reasoning_effort": "low"}}):
            Endpoint(fake.url, "judge", answers=answers, **how).ask(texts("a"))
        plain, ours, low = (one.body for one in fake.requests)
    assert ours == {**plain, **extra}
    assert low == {**plain, "reasoning_effort": "low"}
    refuses = Reply(status=400, error={"message": "Unknown parameter: 'top_k'", "param": "top_k"})
    with FakeEndpoint(lambda *_: refuses) as fake, pytest.warns(SacrecapWarning, match="Unknown parameter"):
        [found] = Endpoint(fake.url, "judge", answers=answers, extra={"top_k": 3}).ask(texts("a"))
    assert (found.end, len(fake.requests)) == ("error", 1), "what a user gives is not left out"


def picture(kind: str, size: tuple[int, int] = (8, 6), mode: str = "RGB") -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new(mode, size, "red" if mode == "RGB" else 1).save(file, kind)
    return file.getvalue()


def test_images_that_no_endpoint_takes_are_converted_or_refused(answers: str) -> None:
    from PIL import Image

    files = [picture("TIFF"), picture("BMP"), picture("TIFF", mode="1"), picture("WEBP"), picture("JPEG")]
    with always("yes") as fake:
        endpoint = Endpoint(fake.url, "judge", answers=answers, at_once=1)
        endpoint.ask([Question("what?", (lambda file=file: file,)) for file in files])  # type: ignore[misc]
        sent = [
            one.body["messages"][0]["content"][0]["image_url"]["url"].partition(";base64,") for one in fake.requests
        ]
        assert [kind.removeprefix("data:image/") for kind, _, _ in sent] == ["png", "png", "png", "webp", "jpeg"]
        read = [Image.open(io.BytesIO(base64.b64decode(content))) for _, _, content in sent]
        assert {image.size for image in read} == {(8, 6)}
        assert read[0].convert("RGB").getpixel((1, 1)) == (255, 0, 0)
        for broken in (b"%PDF-1.7", b"", b"RIFF....WAVE", b"<svg/>"):
            with pytest.raises(DataError, match="1 image .an image.: no image file of a known format"):
                endpoint.ask([*texts("first"), Question("what?", (lambda: broken,))])  # noqa: B023
        assert len(fake.requests) == len(files), "nothing was paid"


def test_a_largest_size(answers: str) -> None:
    from PIL import Image

    large, small = picture("JPEG", (3000, 2000)), picture("JPEG", (300, 200))
    questions = [Question("what?", (lambda file=file: file,)) for file in (large, small)]  # type: ignore[misc]
    with always("yes") as fake:
        Endpoint(fake.url, "judge", answers=answers, image_size=640, at_once=1).ask(questions)
        sent = [one.body["messages"][0]["content"][0]["image_url"]["url"] for one in fake.requests]
        read = [base64.b64decode(url.partition("base64,")[2]) for url in sent]
        assert Image.open(io.BytesIO(read[0])).size == (640, 427)
        assert read[1] == small
        Endpoint(fake.url, "judge", answers=answers).ask(questions)
        assert len(fake.requests) == 4, "it is another question"
