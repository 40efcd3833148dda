"""`sacrecap caption sweep`: the trade-off of diversity and accuracy."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import click

from sacrecap.choices import FORMATS
from sacrecap.cli import options
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import stage
from sacrecap.errors import UsageError, accepted_name
from sacrecap.report.pictures import check_matplotlib
from sacrecap_captioning.cli import shared
from sacrecap_captioning.settings import AUTO, MODEL_NAMES, Settings, check_encoder, is_checkpoint
from sacrecap_captioning.sweep_plan import Sweep

TRAINING = {
    "weights": "words",
    "hidden": 128,
    "embedding": 128,
    "attention": 64,
    "batch": 40,
    "steps": 300,
    "rate": 4e-3,
    "schedule": "cosine",
    "warmup": 30,
    "baseline": "others",
}
"""Settings of training whose defaults differ from those of `sacrecap caption train`: they are small and quick."""
QUICK = {
    "models": "att2in",
    "losses": ("xe + {0,5,20,only}*cider-d",),
    "methods": ("rs", "rs(temperature=0.5)"),
    "seeds": 1,
    "set_size": 5,
    "images": 320,
    "hidden": 96,
    "embedding": 64,
    "attention": 48,
    "steps": 250,
    "batch": 24,
    "rate": 8e-3,
    "reward_steps": 120,
    "reward_batch": 16,
    "reward_rate": 4e-3,
    "retrieval_epochs": 15,
}
"""What `--quick` sets: small, and large enough for the order of the paper's captioners."""
_OF_TRAINING = """baseline retrieval steps batch rate warmup schedule features encoder weights encoder_epochs images
    side on_missing least length hidden embedding attention device""".split()


@click.command(
    cls=Command, common="--output --quick --models --loss --method --seeds --steps --format --device --quiet".split()
)
@click.argument("data")
@click.option("--output", "-o", required=True, metavar="SWEEP", help="The folder to make, or to continue.")
@click.option(
    "--quick",
    is_flag=True,
    help="In minutes on a laptop: a small captioner with four weights of CIDEr-D, sampled plainly and with temperature "
    "0.5. Options beside it count.",
)
@click.option("--models", default=",".join(Sweep.models), show_default=True, metavar="LIST", help="Captioners.")
@click.option(
    "--loss",
    "losses",
    multiple=True,
    metavar="MIXTURE",
    help="What to minimise after cross-entropy, as for sacrecap caption train; {0,5,only} instead of a weight is an "
    f"axis. May be given several times.  [default: {Sweep.losses[0]}]",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=Sweep.methods,
    show_default=True,
    metavar="METHOD",
    help="How to make sets, as for sacrecap caption generate; may be given several times. One that a captioner cannot "
    "use is left out for it.",
)
@shared.settings(
    Sweep,
    *"seeds set_size split reward_steps reward_batch reward_rate retrieval_epochs".split(),
    called={"set_size": "captions"},
)
@shared.settings(
    Settings,
    *_OF_TRAINING,
    defaults=TRAINING,
    texts={
        "steps": "Steps of cross-entropy.",
        "retrieval": "The model of the reward retrieval; by default the sweep trains one.",
    },
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    metavar="N",
    help="Captioners at a time, each with one thread; by default one per core, or 1 on a GPU.",
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="table", show_default=True, help="What to print."
)
@options.quiet
def command(data: str, output: str, quick: bool, processes: int | None, format_: str, **others: Any) -> None:
    """Train a grid of captioners on DATA, make and score their caption sets, and draw them next to people.

    Each model is trained by cross-entropy, and then with each loss. SWEEP gets every run, set and score,
    results.json, and pictures/: the plane of diversity and accuracy, F, vocabulary, measures and ranking. The same
    command continues an interrupted sweep.
    """
    if quick:
        others |= {name: value for name, value in QUICK.items() if not shared.was_given(name)}
    models, losses, methods = (others.pop(name) for name in ("models", "losses", "methods"))
    names = {field.name for field in dataclasses.fields(Sweep)}
    training = {name: value for name, value in others.items() if name not in names}
    swept = {name: value for name, value in others.items() if name in names}
    given = {name for name in training if shared.was_given(name)}
    if training["features"] is not None:
        shared.check_no_encoder(training["features"], given)
    if "weights" not in given and (training["features"] is not None or is_checkpoint(training["encoder"])):
        training["weights"] = AUTO
    check_encoder(training["encoder"], training["weights"])
    chosen = tuple(filter(None, (model.strip() for model in models.split(","))))
    for model in chosen:
        accepted_name("the model", model, MODEL_NAMES)
    sweep = Sweep(data, chosen, losses or Sweep.losses, methods, training=training, **swept)
    with shared.torch_needed("sweeping captioners"):
        from sacrecap_captioning.grid import run_sweep
        from sacrecap_captioning.set_methods import set_method
        from sacrecap_captioning.sweep_result import render, write_pictures

        check_matplotlib()
        if len({str(set_method(method)) for method in methods}) < len(methods) or len(set(chosen)) < len(chosen):
            raise UsageError("a model or a method is given twice; give each once")
        _quieten_tracker()
        shared.one_thread()
        result = run_sweep(sweep, output, processes=processes or _processes(others["device"]), progress=shared.show)
    stage.text = "drawing"
    write_pictures(result, os.path.join(output, "pictures"))
    options.emit(render(result, format_, colour=options.colour("-"), width=options.width("-")))


def _quieten_tracker() -> None:
    """Ctrl-C ends this process at once; Python's resource tracker cleans up silently."""
    known = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [known, "ignore:resource_tracker:UserWarning"]))


def _processes(device: str) -> int:
    """The number of cores; 1 on a GPU."""
    from sacrecap.vision.devices import choose_device

    if choose_device(device).type != "cpu":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
