"""`sacrecap caption`: captioners, and the data and sets they need.

What is wrong is said before torch is loaded, which takes seconds, wherever it can be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

import sacrecap
from sacrecap import Endpoint, Needs
from sacrecap.cli import options
from sacrecap.cli.group import Command, Group, takes
from sacrecap.cli.interruptible import show_share, stage
from sacrecap.cli.output import output
from sacrecap.data import write_candidates, write_caption_sets
from sacrecap.data.captioned import is_captioned, read_captioned
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, UsageError, accepted_name, of_extra
from sacrecap.metrics.registry import parse_metrics
from sacrecap.report.pictures import check_converter
from sacrecap_captioning.captioned_images import (
    CaptionedImages,
    images_of_run,
    images_to_caption,
    is_feature_file,
    read_images,
)
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.settings import AUTO, MODEL_NAMES, SMALL, Settings, check_encoder, kind_of, read_run
from sacrecap_captioning.sweep_plan import Sweep

if TYPE_CHECKING:
    from sacrecap import Resampling
    from sacrecap.cli.output import Output
    from sacrecap_captioning.training import Position

F = TypeVar("F", bound=Callable[..., Any])
_COUNT = click.IntRange(1)
_SEED = click.IntRange(0)


@click.group(name="caption", cls=Group, section="Models")
def command() -> None:
    """Captioners: train them with the metrics as rewards, make caption sets, draw the trade-off.

    Needs the extra train: pip install 'sacrecap[train]'.
    """


def settings(
    of: type[Settings | Sweep],
    *names: str,
    defaults: Mapping[str, Any] | None = None,
    called: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Options for these settings of a dataclass, in the order of the help, as `setting` has declared them.

    By name of a setting, `defaults`, names of options (`called`) and `texts` of the help stand in place of its own.
    """

    def add(function: F) -> F:
        for name in reversed(names):
            field = of.__dataclass_fields__[name]
            declared, metavar = field.metadata["parameter"], field.metadata["metavar"]
            default = (defaults or {}).get(name, field.default)
            kind: Any = None
            if declared.choices and metavar is None:
                kind = click.Choice(declared.choices)
            elif declared.kind is int:
                kind = click.IntRange(declared.least)
            elif declared.kind is float:
                low, open_ = (declared.least, False) if declared.above is None else (declared.above, True)
                kind = click.FloatRange(low, declared.below, min_open=open_, max_open=True)
            function = click.option(
                f"--{(called or {}).get(name, name).replace('_', '-')}",
                name,
                type=kind,
                is_flag=declared.kind is bool,
                default=default,
                show_default=default is not None and declared.kind is not bool,
                metavar=metavar,
                help=(texts or {}).get(name, declared.meaning),
            )(function)
        return function

    return add


show_images = partial(options.show_bar, unit="images")
features_option = takes(
    """
    --features FILE|DIR  Features computed elsewhere, by image id (.npz), instead of an encoder's; or the folder where
        those of frozen encoders are kept, by default the user's cache folder.
    """
)


def speaker_options(function: F) -> F:
    """What captions images, the images, and how it is loaded."""
    table = """
        --images, --data WHAT  Images: a folder, 'photos/*.jpg', a tar file of webdataset, a Parquet file, or a data set
            with captions; that of the run by default.
        --split NAME  Which split of a data set with captions.
        --on-missing  What to do with an image without a file: report an error, or leave it out.
        --device NAME  cpu, cuda, cuda:1; auto: a GPU if any.
        --batch N  Images at a time.
        --prompt TEXT  What to ask a vision-language checkpoint; one sentence, by default.
        """
    function = takes(
        table,
        data={"name": "data"},
        split={"default": "test"},
        on_missing={"type": click.Choice(["error", "skip"]), "default": "error"},
        device={"default": "auto"},
        batch={"type": _COUNT, "default": 32},
    )(features_option(function))
    return click.argument("speaker", metavar="SPEAKER")(function)


KINDS = {
    "captioner": ("a captioner of sacrecap caption train", "batch device features limit"),
    "checkpoint": ("a checkpoint of transformers", "batch device limit prompt prompts"),
    "endpoint": ("an endpoint", "limit prompt prompts model key_env price budget at_once"),
}
"""What a kind of speaker is called, and its options; all take the others."""


def was_given(name: str) -> bool:
    """Whether the option of this name is on the command line."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def places(features: str | None) -> tuple[str | None, str | None]:
    """What the value of `--features` names: a file, or a folder that may still have to be made."""
    return (features, None) if features is not None and is_feature_file(features) else (None, features)


def check_no_encoder(file: str, names: Collection[str]) -> None:
    """Raises `UsageError` if an encoder is chosen together with a file of features."""
    chosen = [name for name in ("encoder", "weights", "encoder_epochs", "side", "train_encoder") if name in names]
    if chosen:
        listed = ", ".join("--" + name.replace("_", "-") for name in chosen)
        raise UsageError(f"{file} has features, for which no encoder is needed; leave {listed} out")


def images_of(speaker: str, data: str | None, how: Mapping[str, Any], *, blind: bool = False) -> CaptionedImages:
    """The images to caption, of all splits, before torch is loaded; `how` are the values of the other options.

    Only `blind` captions by what is no captioner need no files of images. Raises `UsageError` if an option on the
    command line is for speakers of another kind.
    """
    kind = kind_of(speaker)
    for name in click.get_current_context().params:
        kinds = {taker: called for taker, (called, names) in KINDS.items() if name in names.split()}
        if kinds and kind not in kinds and was_given(name):
            option, who = f"--{name.replace('_', '-')}", " or ".join(kinds.values())
            raise UsageError(f"{option} is for {who}, and {speaker} is {KINDS[kind][0]}: leave it out")
    reading = {"split": how["split"], "on_missing": how["on_missing"]}
    if kind == "captioner":
        settings, _ = read_run(speaker, places(how["features"])[0])
        images = images_of_run(speaker, settings, data, **reading)
    elif data is None:
        raise UsageError(f"{speaker} is {KINDS[kind][0]}, which knows no images: give some (--images WHAT)")
    elif blind and is_captioned(data):
        images = CaptionedImages(read_captioned(data), None)
    else:
        images = images_to_caption(data, **reading)
    images.split(how["split"])
    return images


def check_captioned(images: CaptionedImages, data: str | None, use: str) -> None:
    """Raises `UsageError` if people have said nothing of the images."""
    if not any(image.references for image in images):
        raise UsageError(f"{data}: these images have no captions of people, {use}")


def captioned(speaker: str, images: CaptionedImages, how: Mapping[str, Any]) -> dict[str, list[str]]:
    """Caption sets by the speaker, of whatever kind."""
    stage.text = "loading the captioner"
    with of_extra("train", "captioning images"):
        from sacrecap_captioning.generation import caption_sets
        from sacrecap_captioning.training_run import RunFolder
    source: Any = speaker
    kind, (file, cache) = kind_of(speaker), places(how["features"])
    if kind == "captioner":
        one_thread()
        source = RunFolder.open(speaker, file)
    elif kind == "endpoint":
        if how.get("model") is None:
            raise UsageError(f"{speaker}: name the model behind this endpoint (--model NAME)")
        more = {name: how[name] for name in ("key_env", "price", "budget", "at_once") if how[name] is not None}
        source = Endpoint(speaker, how["model"], **more)
    request: dict[str, Any] = {name: how.get(name) for name in "split method captions limit seed batch device".split()}
    prompts = how.get("prompts") or ([how["prompt"]] if how["prompt"] else [])
    return caption_sets(source, images, prompts=prompts, cache=cache, progress=show_images, **request)


def blind_captions(speaker: str, images: CaptionedImages, how: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """So many captions of each image by those that need no captioner, by name."""
    with of_extra("train", "captioning images"):
        from sacrecap_captioning.generation import blind_sets
        from sacrecap_captioning.training_run import RunFolder
    file, cache = places(how["features"])
    run = RunFolder.open(speaker, file) if kind_of(speaker) == "captioner" else None
    return blind_sets(images, how["split"], how["captions"], run, cache)


def one_thread() -> None:
    """Lets torch compute in one thread, which is fastest for small networks, unless OMP_NUM_THREADS is set.

    A step of Att2in takes three times as long with two threads as with one, and more on a busy machine: the threads
    wait for each other after each of its many small products.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(1)


@command.command()
@click.argument("folder")
@takes(
    """
    --images N  How many.
    --captions N  Captions per image.
    --shapes N  Most shapes per scene; captioners learn scenes of one shape fastest.
    --seed N  Random seed.
    """,
    images={"type": click.IntRange(10), "default": 3000},
    captions={"type": _COUNT, "default": 5},
    shapes={"type": click.IntRange(1, 3), "default": 3},
    seed={"type": _SEED, "default": 0},
)
@options.quiet
def scenes(folder: str, images: int, **how: Any) -> None:
    """Draw a made-up data set into FOLDER: scenes of coloured shapes with varied captions.

    FOLDER gets images/NAME.png, and dataset.json with captions, splits and objects. Of ten images eight are for
    training, one for validation and one for testing. A larger set with the same seed begins with the same images.
    """
    stage.text = "drawing"
    write_scenes(folder, images, progress=lambda finished: show_images("drawing", finished, images), **how)


@command.command(
    cls=Command,
    common="--output --model --loss --init --features --encoder --batch --steps --rate --device --seed --quiet".split(),
)
@click.argument("data", required=False)
@click.option("--output", "-o", required=True, metavar="RUN", help="The run folder to make.")
@settings(Settings, *"model loss baseline retrieval init".split())
@features_option
@settings(Settings, *"encoder weights encoder_epochs train_encoder side images on_missing".split())
@settings(Settings, *"tokenizer least length hidden embedding attention latent dropout".split())
@settings(Settings, *"batch captions steps rate schedule warmup weight_decay clip seed".split())
@settings(Settings, *"validate_every patience log_every device".split())
@options.quiet
def train(data: str | None, output: str, features: str | None, **settings: Any) -> None:
    """Train a captioner on the images of DATA, with a metric as its reward or without, and keep the run in a folder.

    DATA is a folder with a Karpathy split file, Flickr8k, Flickr30k or COCO, or a folder of sacrecap caption scenes.
    """
    chosen = {name: value for name, value in settings.items() if was_given(name)}
    if data is not None:
        chosen["data"] = data
    file, cache = places(features)
    if file is not None:
        check_no_encoder(file, chosen)
        chosen["features"] = file
    images = None
    if "init" not in chosen:
        if data is None:
            raise UsageError("which images? Give their folder: sacrecap caption train DATA -o RUN")
        stage.text = "reading the data"
        declared = Settings(**chosen)
        check_encoder(declared.encoder, declared.weights)
        images = read_images(declared)
        for split in ("train", "val"):
            images.split(split)
    stage.text = "loading PyTorch"
    with of_extra("train", "training captioners"):
        from sacrecap_captioning import training

    def show_position(at: Position) -> None:
        """A bar with losses and CIDEr-D."""
        losses = " · ".join(f"{name} {value:.3f}" for name, value in at.means().items() if name != "seconds")
        scores = "" if at.last is None else f" · CIDEr-D {at.last:.3f} (best {at.best:.3f})"
        options.show_bar("training", at.step, at.steps, f"steps · {losses}{scores}")

    one_thread()
    if "init" in chosen:
        start, _ = read_run(chosen["init"])
        chosen = {**{name: getattr(start, name) for name in ("data", "features", *training.INHERITED)}, **chosen}
    end = training.train(
        Settings(**chosen),
        output,
        images=images,
        cache=cache,
        progress=show_position,
        reading=lambda split, *at: show_images(f"reading {split}", *at),
    )
    early = " (stopped early)" if end.step < end.steps else ""
    options.emit(f"{output}: {end.step:,} steps{early}; best CIDEr-D {end.best:.4f} at step {end.best_step:,}")


@command.command()
@click.argument("run")
@takes(
    """
    -o, --output FILE  The model.  [default: RUN/retrieval.pt]
    --epochs N  Passes over the images.
    --batch N  Images per step.
    --rate RATE  Learning rate of Adam; a tenth of it in the second half.
    --space N  Size of a vector.
    --seed N  Random seed.
    --device NAME  Where it learns: cpu, cuda, cuda:1.
    """,
    epochs={"type": _COUNT, "default": 30},
    batch={"type": click.IntRange(2), "default": 64},
    rate={"type": click.FloatRange(0, min_open=True), "default": 2e-3},
    space={"type": _COUNT, "default": 256},
    seed={"type": _SEED, "default": 0},
    device={"default": "cpu"},
)
@features_option
@options.quiet
def retrieval(run: str, output: str | None, features: str | None, epochs: int, **how: Any) -> None:
    """Train the model whose reward is how well a caption finds its image.

    It is VSE++, on the images, features and words of RUN, a run of sacrecap caption train: for the reward `retrieval`,
    sacrecap caption train --loss 'xe + 2*retrieval' --retrieval FILE.
    """
    with of_extra("train", "training retrieval models"):
        from sacrecap_captioning.retrieval_model import train_retrieval
        from sacrecap_captioning.training_run import RunFolder

    one_thread()

    def text(recalls: dict[str, float]) -> str:
        return ", ".join(f"{name} {share:.0%}" for name, share in recalls.items())

    def show_epoch(epoch: int, loss: float, recalls: dict[str, float]) -> None:
        stage.text = f"training: epoch {epoch} of {epochs} · loss {loss:.3f} · {text(recalls)}"

    file, cache = places(features)
    opened = RunFolder.open(run, file)
    model, epoch, recalls = train_retrieval(opened, cache=cache, epochs=epochs, progress=show_epoch, **how)
    path = output or os.path.join(run, "retrieval.pt")
    model.save(path)
    options.emit(f"{path}: epoch {epoch} of {epochs}; on the validation images {text(recalls)}")


@command.command(
    cls=Command, common="--images --split --method --captions --output --model --seed --device --quiet".split()
)
@speaker_options
@takes(
    """
    --method METHOD  rs, beam, diverse-beam, rci, gnc, ss or drv; a name may carry parameters: rs(temperature=0.7).
    --captions N  Captions per image.
    --limit N  Most words of a caption, by default as in training; of other speakers most tokens, 64 of those that are
        asked in words, 20 of others.
    -o, --output FILE  The sets as JSON; - is stdout.
    --seed N  Seed of everything random.
    --prompts FILE  Several prompts, one per line, which share out the captions of a set; one caption each, unless
        --captions says otherwise.
    --blind  Instead of what SPEAKER says, people's captions of the split train, which it has to beat: the most typical
        ones, the same for all images; or those of the images nearest by the features of SPEAKER, a run of caption
        train.
    """,
    method={"default": "rs"},
    captions={"type": _COUNT, "default": 10},
    limit={"type": _COUNT},
    output={"default": "-"},
    seed={"type": _SEED, "default": 0},
    blind={"type": click.Choice(["typical", "nearest"])},
)
@takes(
    """
    Endpoint:
    --model NAME  The model behind an endpoint.
    --key-env VARIABLE  The variable of the environment that holds the endpoint's key, if it has one.
    --price IN OUT  What a million tokens cost, of questions and of answers.
    --budget N  What may be spent: money, or '200000 tokens'.
    --at-once N  Requests at the same time; 8 by default.
    """,
    price={"type": (float, float)},
    at_once={"type": _COUNT},
)
@options.quiet
def generate(speaker: str, data: str | None, output: str, prompts: str | None, blind: str | None, **how: Any) -> None:
    """Write several captions of each image: what sacrecap diversity scores.

    SPEAKER is a folder of sacrecap caption train; an image-to-text checkpoint of transformers, its folder or owner/name
    on the hub; or the address of an OpenAI-compatible endpoint (vLLM, SGLang, Ollama, clouds), such as
    http://localhost:8000/v1, with --model. An image's captions depend on the seed, not on the batch.
    """
    options.check_outputs(output=output)
    if prompts is not None:
        if how["prompt"] is not None:
            raise UsageError("--prompt is one prompt, and --prompts a file of several; give one of them")
        try:
            how["prompts"] = list(filter(None, map(str.strip, read_bytes(prompts).decode().splitlines())))
        except UnicodeDecodeError:
            raise DataError(f"{prompts}: is not text in UTF-8; prompts are lines of text") from None
        if not how["prompts"]:
            raise DataError(f"{prompts}: has no prompt; write one per line")
        how["captions"] = how["captions"] if was_given("captions") else len(how["prompts"])
    images = images_of(speaker, data, how, blind=blind is not None)
    if blind is None:
        sets = captioned(speaker, images, how)
    else:
        check_captioned(images, data, "which could be copied")
        stage.text = "copying captions"
        copied = blind_captions(speaker, images, how)
        sets = next((sets for name, sets in copied.items() if blind in name), {})
        if not sets:
            raise UsageError(
                f"{speaker}: is no folder of sacrecap caption train, whose features would say which images look alike; "
                "give one, or take --blind typical"
            )
    stage.text = "writing"
    write_caption_sets(output, sets)


@command.command(
    cls=Command,
    values=(options.resampling("Bootstrap samples."), output("percent digits")),
    common="--images --split --metrics --method --candidates --blind --interval --format --output --quiet".split(),
)
@speaker_options
@options.metrics
@takes(
    """
    --method METHOD  How to caption an image once; beam is then greedy: the likeliest word at every step.
    --candidates FILE  Write the captions as COCO results, too.
    --blind  Compare with captions that need no captioner: the most typical caption of the split train and, for a folder
        of sacrecap caption train, one of the image that looks most alike.
    """,
    method={"default": "beam"},
    blind={"is_flag": True},
)
@options.tokenizer
@options.threads
def evaluate(
    speaker: str,
    data: str | None,
    metrics: str,
    candidates: str | None,
    blind: bool,
    tokenizer: str,
    threads: int,
    resampling: Resampling,
    output: Output,
    **how: Any,
) -> None:
    """Caption each image once and score the captions against people's, as sacrecap score does, or compare.

    SPEAKER is a folder of sacrecap caption train, or an image-to-text checkpoint of transformers: its folder, or
    owner/name on the hub.
    """
    output.check(candidates=candidates)
    needs = Needs(threads=threads, progress=show_share)
    chosen = parse_metrics(metrics, needs)
    images = images_of(speaker, data, how)
    check_captioned(images, data, "with which captions could be compared")
    how.update(captions=1, seed=resampling.seed)
    captions = {image: texts[0] for image, texts in captioned(speaker, images, how).items()}
    if candidates is not None:
        write_candidates(candidates, captions)
    stage.text = "scoring"
    references = images.split(how["split"]).references()
    scoring: dict[str, Any] = {"tokenizer": tokenizer, "needs": needs, "resampling": resampling, "threads": threads}
    if blind:
        copied = blind_captions(speaker, images, how)
        once = {name: {image: sets[image][0] for image in captions} for name, sets in copied.items()}
        output.show(sacrecap.compare(references, {"captioner": captions, **once}, chosen, **scoring))
    else:
        output.show(sacrecap.score(references, captions, chosen, **scoring))


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


@command.command(
    cls=Command, common="--output --quick --models --loss --method --seeds --steps --format --device --quiet".split()
)
@click.argument("data")
@takes(
    """
    --output, -o SWEEP  The folder to make, or to continue.
    --quick  In minutes on a laptop: a small captioner with four weights of CIDEr-D, sampled plainly and with
        temperature 0.5. Options beside it count.
    --models LIST  Captioners.
    """,
    o={"required": True},
    quick={"is_flag": True},
    models={"default": ",".join(Sweep.models)},
)
@click.option(
    "--loss",
    "losses",
    multiple=True,
    metavar="MIXTURE",
    help="What to minimise after cross-entropy, as for sacrecap caption train; {0,5,only} instead of a weight is an "
    f"axis. May be given several times.  [default: {Sweep.losses[0]}]",
)
@takes(
    """
    --method METHOD  How to make sets, as for sacrecap caption generate; may be given several times. One that a
        captioner cannot use is left out for it.
    """,
    method={"name": "methods", "multiple": True, "default": Sweep.methods},
)
@settings(
    Sweep,
    *"seeds set_size split reward_steps reward_batch reward_rate retrieval_epochs".split(),
    called={"set_size": "captions"},
)
@settings(
    Settings,
    *_OF_TRAINING,
    defaults=TRAINING,
    texts={
        "steps": "Steps of cross-entropy.",
        "retrieval": "The model of the reward retrieval; by default the sweep trains one.",
    },
)
@takes(
    """
    --processes N  Captioners at a time, each with one thread; by default one per core, or 1 on a GPU.
    --format  What to print.
    """,
    processes={"type": _COUNT},
    format={"name": "format_", "type": options.FORMAT.type, "default": "table"},
)
@options.quiet
def sweep(data: str, output: str, quick: bool, processes: int | None, format_: str, **how: Any) -> None:
    """Train a grid of captioners on DATA, score their caption sets, and draw diversity against accuracy.

    Each model is trained by cross-entropy, and then with each loss. SWEEP gets every run, set and score,
    results.json, and pictures/: the plane of diversity and accuracy, F, vocabulary, measures and ranking. The same
    command continues an interrupted sweep.
    """
    if quick:
        how |= {name: value for name, value in QUICK.items() if not was_given(name)}
    models, losses, methods = (how.pop(name) for name in ("models", "losses", "methods"))
    swept = {name: how.pop(name) for name in [*how] if name in Sweep.__dataclass_fields__}
    training = how
    chosen = {name for name in training if was_given(name)}
    if training["features"] is not None:
        check_no_encoder(training["features"], chosen)
    if "weights" not in chosen and (training["features"] is not None or training["encoder"] != SMALL):
        training["weights"] = AUTO
    check_encoder(training["encoder"], training["weights"])
    model_names = tuple(filter(None, (model.strip() for model in models.split(","))))
    for model in model_names:
        accepted_name("the model", model, MODEL_NAMES)
    plan = Sweep(data, model_names, losses or Sweep.losses, methods, training=training, **swept)
    with of_extra("train", "sweeping captioners"):
        from sacrecap.vision.devices import choose_device
        from sacrecap_captioning.set_methods import set_method
        from sacrecap_captioning.sweep import render, run_sweep, write_pictures
    check_converter()
    if len({str(set_method(method)) for method in methods}) < len(methods) or len({*model_names}) < len(model_names):
        raise UsageError("a model or a method is given twice; give each once")
    # Ctrl-C ends this process at once; Python's resource tracker cleans up silently.
    ignored = os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, ignored))
    one_thread()
    if processes is None:
        is_on_gpu = choose_device(training["device"]).type != "cpu"
        affinity = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
        processes = 1 if is_on_gpu else len(affinity(0))
    result = run_sweep(plan, output, processes=processes, progress=options.show_bar)
    stage.text = "drawing"
    write_pictures(result, os.path.join(output, "pictures"))
    options.emit(render(result, format_, colour=options.colour("-"), width=options.width("-")))
