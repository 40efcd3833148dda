"""Options that several subcommands share, and the values that commands take them as."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from sacrecap.choices import CORRECTIONS, FORMATS, TESTS, TOKENIZERS, XM3600, IntervalMethod
from sacrecap.cli.group import Option, Value, declared, taking
from sacrecap.cli.interruptible import show_share, stage
from sacrecap.data.fields import toml_document
from sacrecap.data.source import reading
from sacrecap.data.writers import atomic_write, check_writable
from sacrecap.errors import DataError, UsageError
from sacrecap.parameters import Parameter, read_parameters

if TYPE_CHECKING:
    from sacrecap.data.images import ImageSource
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.intervals import Resampling


def _quiet(_: click.Context, __: click.Parameter, value: bool) -> None:
    stage.quiet = value
    if value:
        stage.silence()


SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".txt": "table"}
"""The format of what goes to a file with this suffix."""


def _by_suffix(context: click.Context, _: click.Parameter, format_: str | None) -> str:
    """The format; without one that of the suffix of --output, which is eager. Raises `BadParameter` for
    another suffix.
    """
    place = context.params.get("output", "-")
    suffix = os.path.splitext(place)[1].lower()
    if format_ is None and suffix and suffix not in SUFFIXES:
        raise click.BadParameter(
            f"{place!r} has none of the suffixes {', '.join(SUFFIXES)}; choose one, or give --format",
            param_hint="'--output'",
        )
    return format_ or SUFFIXES.get(suffix, "table")


def _load_plugins(_: click.Context, __: click.Parameter, files: tuple[str, ...]) -> None:
    for file in files:
        from sacrecap.metrics.plugins import load_plugin

        load_plugin(file)


FORMAT, OUTPUT, QUIET, THREADS, TOKENIZER, PLUGIN = declared(
    f"""
    Output:
    --format  What to print: what the suffix of --output says, or else a table.
    -o, --output FILE  Where to print it; - is stdout. The suffix gives the format: {", ".join(SUFFIXES)}.
    -q, --quiet  Nothing on standard error but errors: no progress, no warnings.
    Engine:
    --threads N  Number of threads; 0, the default, means one per core. Results do not depend on it.
    Files:
    --tokenizer NAME  ptb: the COCO suite's, each caption on its own; ptb-stream: the whole file as one text, as that
        suite runs it; whitespace, none: captions are tokenised already; blanks: split at each blank, as that suite's
        ROUGE does. For other languages those of sacreBLEU: 13a, intl, char, zh, ja-mecab, ko-mecab, flores200, each
        also in lower case, such as intl-lc; xm3600-de: that for this language of Crossmodal-3600.
    Metrics:
    --plugin FILE.py  A Python file that makes metrics (@sacrecap.metric), which can then be named; may be repeated.
    """,
    format={"name": "format_", "type": click.Choice(FORMATS), "callback": _by_suffix},
    output={"default": "-", "is_eager": True},  # before --format
    quiet={"is_flag": True, "is_eager": True, "callback": _quiet, "expose_value": False},  # others may warn
    threads={"type": click.IntRange(0), "default": 0, "show_default": False},
    tokenizer={
        "type": click.Choice([*TOKENIZERS, *XM3600]),
        "callback": lambda _, __, name: XM3600.get(name, name),
        "default": "ptb",
    },
    # Before the metrics that it brings are looked up.
    plugin={"multiple": True, "expose_value": False, "is_eager": True, "callback": _load_plugins},
)
threads, quiet, tokenizer, plugin = map(taking, (THREADS, QUIET, TOKENIZER, PLUGIN))
table_or_json = click.option(
    "--format", "format_", type=click.Choice(["table", "json"]), default="table", help="What to print."
)


def complete_metrics(
    _context: click.Context, _option: click.Parameter, incomplete: str, *, sets: bool = False
) -> list[CompletionItem]:
    """Shell completions for the last of several metrics: metrics of captions, or of caption sets."""
    from sacrecap.metrics.registry import added, folded, groups, own_metrics

    last = re.split(r"[,\s]", incomplete)[-1]
    metrics = {metric.name: metric for metric in (*own_metrics(), *added().values()) if metric.scores_sets == sets}
    described = {}
    for name, members in groups().items():
        if labels := [metrics[member].label for member in members if member in metrics]:
            described[name] = f"group: {', '.join(labels)}"
    described |= {name: metric.summary for name, metric in metrics.items()}
    return [
        CompletionItem(incomplete.removesuffix(last) + name, help=summary)
        for name, summary in described.items()
        if folded(name).startswith(folded(last))
    ]


class MetricsOption(Option):
    """--metrics, which may be repeated; the command gets one list. Its help names the groups; they are looked up only
    when the help is shown.
    """

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from sacrecap.metrics.registry import groups, scores_sets

        of_captions = (name for name, members in groups().items() if not any(map(scores_sets, members)))
        self.help = (
            f"Names or groups, separated by commas or blanks ({', '.join(of_captions)}); a name may carry parameters: "
            "cider-d(sigma=5); combine(fluency, cider-d) is the mean of both. May be repeated."
        )
        return super().get_help_record(ctx)


def _list_of_metrics(kind: type[Option] = Option, **settings: Any) -> Option:
    settings = {"callback": lambda _, __, lists: ",".join(lists), "shell_complete": complete_metrics, **settings}
    return kind(["--metrics"], heading="Metrics", multiple=True, metavar="LIST", **settings)


METRICS = _list_of_metrics(MetricsOption, default=("coco",))
JUDGED_METRICS = _list_of_metrics(MetricsOption)
"""Without a default, which depends on what people judged: captions or caption sets."""
COMPARED_METRICS = _list_of_metrics(
    help="Compare these metrics with the baseline; by default all that it has. May be repeated."
)
SET_METRICS = _list_of_metrics(
    default=("diversity",),
    shell_complete=partial(complete_metrics, sets=True),
    help="Metrics of caption sets, separated by commas or blanks; a name may carry parameters: "
    "self-cider(kernel=cider-d). May be repeated.",
)
metrics = taking(METRICS, PLUGIN)


def number(kind: type[float], least: float, most: float) -> Callable[[str], float]:
    """What reads a whole number, or any, from the least to the most."""

    def read(text: str) -> float:
        value = kind(text)
        if not least <= value <= most:
            raise ValueError
        return value

    return read


def read_settings(texts: Iterable[str]) -> dict[str, Any]:
    """What --judge-settings say, by key, with _ for -; of a key, the last one counts.

    In KEY=VALUE,… a part without an equals sign goes on with the value before it, as in ``price=0.15,0.6``.

    Examples:
        >>> read_settings(["price=0.15,0.6,requests=4", "requests=16"])
        {'price': (0.15, 0.6), 'requests': 16}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        place, values, key = "--judge-settings", dict[str, str](), ""
        if text and ("=" not in text or os.path.exists(text)):
            place, values = text, _of_file(text)
        else:
            for part in text.split(","):
                name, equals, value = part.partition("=")
                if equals:
                    key = name.strip()
                    values[key] = value
                elif key:
                    values[key] += f",{part}"
                else:
                    raise UsageError(f"{place} takes FILE or KEY=VALUE,…, got {text!r}")
        for key in ("url", "model", "key-env"):
            if key in values:
                raise UsageError(f"{place}: {key} is not a setting; give --judge-{key}")
        settings |= read_parameters(place, values, _SETTINGS)
    return settings


def _of_file(path: str) -> dict[str, str]:
    """The settings of a file of TOML or JSON, each as the option has it."""
    with reading(path), open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else toml_document(text)
    except ValueError as error:
        raise DataError(f"{path}: neither JSON nor TOML: {error}") from None

    def written(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, dict):
            return json.dumps(value)
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    return {key: written(value) for key, value in document.items()}


def _price(text: str) -> tuple[float, float]:
    tokens_in, tokens_out = map(number(float, 0, sys.float_info.max), text.split(","))
    return tokens_in, tokens_out


def _extra(text: str) -> dict[str, object]:
    extra = json.loads(text)
    if not isinstance(extra, dict):
        raise ValueError
    return extra


def _text(text: str) -> str:
    if not text:
        raise ValueError
    return text


_SETTINGS: dict[str, Parameter] = {
    "price": ("the prices of a million tokens in and of a million out, such as 0.15,0.6", _price),
    "budget": ("money, such as 5, or tokens, such as '200000 tokens'", _text),
    "requests": ("a number of requests at the same time, 1 to 1024", number(int, 1, 1024)),
    "per-minute": ("a number of requests in a minute", number(float, 1e-3, 1e6)),
    "extra": ('parameters of the server as an object of JSON, such as {"reasoning_effort": "low"}', _extra),
    "image-size": ("the longest side of an image in pixels, 16 to 65535", number(int, 16, 65535)),
    "unanswered": ("the largest share of captions without an answer, 0 to 1", number(float, 0, 1)),
    "dry-run": ("yes or no", lambda text: ("no", "yes").index(text) == 1),
    "prompt": ("the file of the text that asks", _text),
    "rubric": ("the file of each image's items", _text),
}


_NEEDS = [
    *declared(
        """
        --df corpus|NAME|FILE  Document frequencies, for CIDEr: corpus, from these references; or a name of sacrecap
            testsets, or a file of sacrecap df. May be repeated, for metrics that need different ones.
        --lm FILE  The language model of fluency(references=no), made by sacrecap df build --language-model.
        --objects FILE  What is in each image, for VIFIDEL and CHAIR: annotations, lists or detector output. Without it,
            a detector finds the objects in --images (extra detect).
        --threshold SCORE  Least confidence of a detected object.
        --embeddings NAME|FILE  Word vectors for WMD and VIFIDEL: a name or a file; those inside the package by default.
        --images DIR|FILE.tar|PATTERN|COLUMN  The images, for CLIPScore, objects and the report: a folder, a tar file, a
            pattern such as photos/{image_id}.jpg, or the column of a captions' file that names each one's file. The
            report takes https://host/{image_id}.jpg too.
        --scores FILE  Scores that others computed, each column a metric by its name: Parquet, CSV, TSV or JSON lines, a
            row per caption with image_id, and system or caption.
        --standard FILE  Mean and deviation for z(METRIC): JSON of compare or agreement; these two take them from all
            captions.
        --need NAME=VALUE  device=cpu, cuda:1: where networks run, by default on a GPU, if there is one. Or what a
            metric of another package needs, by its name. May be repeated.
        Judge:
        --judge-url URL  The address of an OpenAI-compatible endpoint up to /v1, for judge: http://localhost:8000/v1.
        --judge-model NAME  The name of the model there.
        --judge-key-env VARIABLE  The variable of the environment with the key. Without, OPENAI_API_KEY goes to
            api.openai.com, and no key to any other host. Over plain http a key goes to this machine alone.
        --judge-settings FILE|KEY=VALUE,…  price=IN,OUT, of a million tokens; budget=MONEY or 'budget=N tokens', the
            most to spend; requests=8 at the same time; per-minute=N; extra={…}, parameters of the server in JSON;
            image-size=PIXELS, the longest side; unanswered=0.1, the largest share of captions without an answer;
            dry-run=yes, which asks nothing; prompt=FILE, as sacrecap metrics judge --prompt rating prints it;
            rubric=FILE, each image's items, also for the metric rubric. Or a file of TOML or JSON with these keys; may
            be repeated.
        """,
        df={"name": "document_frequency", "default": ("corpus",), "multiple": True},
        lm={"name": "language_model"},
        threshold={"type": click.FloatRange(0, 1)},
        need={"name": "needs_by_name", "multiple": True},
        judge_settings={"multiple": True},
    ),
    THREADS,
]


def _needs(
    *, document_frequency: tuple[str, ...], needs_by_name: tuple[str, ...], threads: int, **inputs: Any
) -> Needs:
    from sacrecap.resources.needs import Given, Needs

    if inputs["threshold"] is not None and inputs["objects"] is None and inputs["images"] is None:
        raise UsageError("--threshold is for the detections of --objects FILE, which was not given")
    judge_url, judge_model, judge_key_env, texts = (
        inputs.pop(f"judge_{name}") for name in ("url", "model", "key_env", "settings")
    )
    settings = read_settings(texts)
    inputs["rubric"] = settings.pop("rubric", None)  # which a metric without a judge needs, too
    if judge_url and judge_model:
        from sacrecap.resources.endpoint import Endpoint

        inputs["judge_prompt"] = settings.pop("prompt", None)
        at_once = settings.pop("requests", 8)
        inputs["judge"] = Endpoint(judge_url, judge_model, key_env=judge_key_env, at_once=at_once, **settings)
    elif judge_url or judge_model:
        raise UsageError("a judge has an address and a model there: give both --judge-url URL and --judge-model NAME")
    elif settings or judge_key_env:
        option = "--judge-key-env" if judge_key_env else f"--judge-settings {next(iter(settings)).replace('_', '-')}"
        raise UsageError(f"{option} is for a judge: give --judge-url URL and --judge-model NAME, too")
    # The references are the default: nothing has to look for counts of that name.
    named = {**inputs, "document_frequency": None if document_frequency == ("corpus",) else document_frequency}
    for text in needs_by_name:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not (name and equals):
            raise UsageError(f"--need takes NAME=VALUE, got {text!r}")
        if name in Given.__annotations__ and name != "device":
            raise UsageError(f"--need is not for {name}, which an option or a metric's parameter gives: see --help-all")
        named[name] = value
    return Needs(named, threads=threads, progress=show_share)


NEEDS = Value("needs", "Metrics", _needs, _NEEDS)
"""What metrics need beside captions, and the number of threads: one `Needs`."""


def image_source(
    needs: Needs, report: str | None, metrics: Iterable[Metric], image_ids: Iterable[str]
) -> ImageSource | None:
    """The images that --images names, for the report, if one is written, unless metrics alone look at them. Raises
    every error about the images that are scored before anything is computed.
    """
    images = needs.get("images")
    look = {"images"} if "objects" in needs else {"images", "objects"}  # objects are found in them
    if images is None or (report is None and any(look & {*part.needs} for metric in metrics for part in metric.parts)):
        return None
    if report is None:
        raise UsageError(
            "--images shows the images in a report; give --report FILE.html too, or a metric that looks at them "
            "(--metrics clipscore)"
        )
    from sacrecap.report.photos import check_images

    source = check_images(images)
    source.find_all(image_ids)
    return source


def _interval(text: str, *, bootstrapped: bool = False) -> tuple[float | None, IntervalMethod]:
    """The confidence level, None for `none`, and the method, where it is not always `bootstrapped`."""
    jackknife = re.fullmatch(r"jackknife(?:\((.*)\))?", text)
    try:
        level = None if text == "none" else float((jackknife[1] if "(" in text else 0.95) if jackknife else text)
    except ValueError:
        level = 0.0
    if level is not None and not 0 < level < 1:
        question = f" (did you mean {level / 100:g}?)" if 1 < level < 100 else ""
        raise click.BadParameter(
            f"{text!r} is neither a confidence level between 0 and 1 (such as 0.95), nor jackknife(0.95), nor none"
            + question
        )
    if jackknife and bootstrapped:
        raise click.BadParameter("intervals of agreement are of bootstrap samples alone: give a level, such as 0.95")
    return level, "jackknife" if jackknife else "percentile"


_INTERVAL, _SEED = declared(
    """
    --interval LEVEL|jackknife|none  Confidence level of the bootstrap intervals over images; jackknife or
        jackknife(0.9) makes them of the standard error, for few images; none for no intervals.
    --seed N  Seed of everything random.
    """,
    interval={"type": _interval, "default": "0.95"},
    seed={"type": click.IntRange(0, 2**64 - 1), "default": 0},
)
[BOOTSTRAPPED] = declared(
    "--interval LEVEL|none  Confidence level of the bootstrap intervals over images; none for no intervals.",
    interval={"type": lambda text: _interval(text, bootstrapped=True), "default": "0.95"},
)


def _resampling(interval: tuple[float | None, IntervalMethod] = (None, "percentile"), **parameters: Any) -> Resampling:
    from sacrecap.scoring.intervals import Resampling

    return Resampling(*interval, **parameters)


def resampling(samples: str, *, intervals: click.Option | None = _INTERVAL) -> Value:
    """How a command tells its uncertainty, as one `Resampling`: `samples` is what --samples counts."""
    number = declared(f"--samples N  {samples}", samples={"type": click.IntRange(1), "default": 1000})
    options = (*(() if intervals is None else (intervals,)), *number, _SEED)
    return Value("resampling", "Statistics", _resampling, options)


def _attempts(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> int | dict[str, int]:
    """One number, or a number for each system that is named."""
    several: dict[str, int] = {}
    for text in values:
        name, equals, count = text.rpartition("=")
        if (len(values) > 1 and not equals) or name in several:
            raise click.BadParameter(f"give one number, or NAME=N for each system, got {' '.join(values)}")
        if not count.isdecimal() or int(count) < 1:
            raise click.BadParameter(f"a number of attempts is a whole number of at least 1, got {count!r}")
        several[name] = int(count)
        if not equals:
            return several[name]
    return several or 1


TEST, _ALPHA, _CORRECTION, _ATTEMPTS = declared(
    """
    --test  Paired test over images: exact, permutation (which draws samples of it), or the paired bootstrap; exact by
        default, and bootstrap with --engine stream and ray, which have no other.
    --alpha LEVEL  A difference is significant where its corrected p is at most this.
    --correction  Of p for the number of pairs of systems, for each metric.
    --attempts [NAME=]N  Each system, or system NAME, is the best of N attempts on these images (submissions,
        checkpoints); may be repeated.
    """,
    test={"type": click.Choice(TESTS)},
    alpha={"type": click.FloatRange(0, 1, min_open=True, max_open=True), "default": 0.05},
    correction={"type": click.Choice(CORRECTIONS), "default": "holm"},
    attempts={"multiple": True, "callback": _attempts},
)
SIGNIFICANCE = Value("significance", "Statistics", dict, (TEST, _ALPHA, _CORRECTION, _ATTEMPTS))
SIGNIFICANCE_OF_CHECK = Value("significance", "Statistics", dict, (TEST, _ALPHA))


def on_command_line() -> list[click.Parameter]:
    """The arguments and options of the running command that were given to it."""
    context = click.get_current_context()
    source, command_line = context.get_parameter_source, ParameterSource.COMMANDLINE
    return [option for option in context.command.params if source(option.name or "") is command_line]


def check_outputs(**places: str | None) -> None:
    """Raises, before anything is computed, if a file that an option names cannot be written, is that of another option,
    or one that the command reads.
    """
    used: dict[str, str] = {}
    # All texts that the other arguments and options hold; some name files to read; `engine` names outputs.
    values = [value for name, value in click.get_current_context().params.items() if name not in (*places, "engine")]
    texts = [text for value in values for text in (value if isinstance(value, tuple) else (value,))]
    inputs = {part for text in texts if isinstance(text, str) for part in (text, *re.split("[=,()]", text))}
    for name, place in places.items():
        if place is None:
            continue
        check_writable(place)
        option = "--" + name.replace("_", "-")
        # Through links of any kind; what is no file's name is no input.
        if os.path.isfile(place) and any(os.path.exists(text) and os.path.samefile(place, text) for text in inputs):
            raise UsageError(f"{option} {place} would overwrite an input of this command; name another file")
        writer = used.setdefault(place if place == "-" else os.path.realpath(place), option)
        if writer != option:
            what = "standard output" if place == "-" else place
            raise UsageError(f"{writer} and {option} both write {what}; give each a file of its own")


def show_bar(what: str, finished: int, total: int, unit: str = "") -> None:
    """Shows a bar on the line of a terminal, and how much is done."""
    bar = "█" * (20 * finished // max(1, total))
    stage.text = f"{what} {bar:░<20} {finished:,} of {total:,} {unit}".rstrip()


def show_fetched(name: str, loaded: int, size: int) -> None:
    """Shows how much of a test set is there."""
    stage.text = f"fetching {name}: {loaded / 1e6:,.1f} of {size / 1e6:,.1f} MB" if loaded != size else "reading"


def colour(output: str) -> bool:
    """Whether the output shows colours: a terminal, or what standard output leads to if FORCE_COLOR is set."""
    return output == "-" and (sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR")))


def width(output: str) -> int | None:
    """Width of the terminal that shows the output; None if the output goes elsewhere."""
    if output != "-" or not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def emit(text: str, output: str = "-") -> None:
    """Prints the text, or writes it to the file, whole or not at all."""
    with atomic_write(output, "w") as file:
        file.write(text if text.endswith("\n") else text + "\n")
