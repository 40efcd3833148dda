"""What the subcommands of `sacrecap caption` share: options, checks before torch is loaded, and progress."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from sacrecap.cli.group import takes
from sacrecap.cli.interruptible import stage
from sacrecap.data.captioned import CaptionedImage, is_captioned, of_split, read_captioned
from sacrecap.errors import MissingDependencyError, UsageError
from sacrecap.metrics.declared import Parameter
from sacrecap.resources.endpoint import Endpoint
from sacrecap_captioning.captioned_images import is_feature_file

F = TypeVar("F", bound=Callable[..., Any])

features: Callable[[F], F] = click.option(
    "--features",
    metavar="FILE|DIR",
    help="Features computed elsewhere, by image id (.npz), instead of an encoder's; or the folder where "
    "those of frozen encoders are kept, by default the user's cache folder.",
)
_CAPTIONER = (
    click.argument("captioner", metavar="SPEAKER"),
    click.option(
        "--images",
        "--data",
        "data",
        metavar="WHAT",
        help="Images: a folder, 'photos/*.jpg', a tar file of webdataset, a Parquet file, or a data set with captions; "
        "that of the run by default.",
    ),
    click.option(
        "--split", default="test", show_default=True, metavar="NAME", help="Which split of a data set with captions."
    ),
    features,
    takes(
        """
        --on-missing  What to do with an image without a file: report an error, or leave it out.
        --device NAME  cpu, cuda, cuda:1; auto: a GPU if any.
        --batch N  Images at a time.
        """,
        on_missing={"type": click.Choice(["error", "skip"]), "default": "error"},
        device={"default": "auto"},
        batch={"type": click.IntRange(1), "default": 32},
    ),
    click.option(
        "--prompt", metavar="TEXT", help="What to ask a vision-language checkpoint; one sentence, by default."
    ),
)


def captioner(function: F) -> F:
    """A captioner, the images that it captions, and how it is loaded."""
    for option in reversed(_CAPTIONER):
        function = option(function)
    return function


def settings(
    of: type,
    *names: str,
    defaults: Mapping[str, Any] | None = None,
    called: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Options for these settings of a dataclass, as `setting` has declared them.

    Args:
        of: the dataclass.
        names: of its settings, in the order of the help.
        defaults: other defaults than the dataclass has.
        called: names of options, where they are not those of the settings.
        texts: of the help, where they are others.
    """
    fields = {field.name: field for field in dataclasses.fields(of)}

    def add(function: F) -> F:
        for name in reversed(names):
            field = fields[name]
            declared, default = field.metadata["parameter"], (defaults or {}).get(name, field.default)
            function = click.option(
                f"--{(called or {}).get(name, name).replace('_', '-')}",
                name,
                type=_type(declared, field.metadata["metavar"]),
                is_flag=declared.kind is bool,
                default=default,
                show_default=default is not None and declared.kind is not bool,
                metavar=field.metadata["metavar"],
                help=(texts or {}).get(name, declared.meaning),
            )(function)
        return function

    return add


def _type(declared: Parameter, metavar: str | None) -> Any:
    """Click's type of a setting."""
    if declared.choices and metavar is None:
        return click.Choice(declared.choices)
    if declared.kind is int:
        return click.IntRange(declared.least)  # type: ignore[arg-type]
    if declared.kind is float:
        low = declared.least if declared.above is None else declared.above
        return click.FloatRange(low, declared.below, min_open=declared.above is not None, max_open=True)
    return None


def was_given(name: str) -> bool:
    """Whether the option of this name is on the command line."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


class Places(NamedTuple):
    """The source of features."""

    file: str | None
    cache: str | None


def places(given: str | None) -> Places:
    """What the value of `--features` means: a file, or a folder that may still have to be made."""
    return Places(given, None) if given is not None and is_feature_file(given) else Places(None, given)


def check_no_encoder(file: str, given: Collection[str]) -> None:
    """Raises `UsageError` if an encoder is chosen together with a file of features."""
    names = [name for name in ("encoder", "weights", "encoder_epochs", "side", "train_encoder") if name in given]
    if names:
        listed = ", ".join("--" + name.replace("_", "-") for name in names)
        raise UsageError(f"{file} has features, for which no encoder is needed; leave {listed} out")


def caption_sets(captioner: str, features: str | None, **how: Any) -> dict[str, list[str]]:
    """What `generate` makes, with the value of `--features`; `how` are its other arguments."""
    stage.text = "loading the captioner"
    speaker: Any = captioner
    with torch_needed("captioning images"):
        from sacrecap_captioning.generation import generate, is_run
    endpoint = {name: how.pop(name, None) for name in ("model", *ENDPOINT)}
    if _is_address(captioner):
        speaker = _endpoint(captioner, **endpoint)
    elif any(value is not None for value in endpoint.values()):
        raise UsageError(f"--model and what belongs to it are for an endpoint, and {captioner} is none")
    elif is_run(captioner):
        one_thread()
    file, cache = places(features)
    return generate(speaker, features=file, cache=cache, progress=show_images, **how)


def _is_address(speaker: str) -> bool:
    return speaker.startswith(("http://", "https://"))


ENDPOINT = ("key_env", "price", "budget", "at_once")
"""Options of an endpoint besides the name of its model."""


def _endpoint(url: str, *, model: str | None, **how: Any) -> Endpoint:
    """The endpoint at an address. Raises `UsageError` without the name of a model."""
    if model is None:
        raise UsageError(f"{url}: name the model behind this endpoint (--model NAME)")
    return Endpoint(url, model, **{name: value for name, value in how.items() if value is not None})


def listed_images(captioner: str, data: str | None, split: str) -> list[CaptionedImage] | None:
    """The images of a data set with captions, or of that of a run, before torch is loaded.

    None if there are images alone, or if `generate` should say what is wrong.

    Raises:
        DataError: the data set is broken.
        UsageError: no image is in the split.
    """
    place: Any = data
    if data is None:
        try:
            place = json.loads((Path(captioner) / "config.json").read_text(encoding="utf-8"))["settings"]["data"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not isinstance(place, str) or not os.path.exists(place):
            return None
    if not is_captioned(place):
        return None
    images = read_captioned(place)
    of_split(images, split)
    return images


def blind_captions(
    captioner: str,
    features: str | None,
    data: str | None,
    listed: Sequence[CaptionedImage] | None,
    split: str,
    on_missing: str,
    number: int,
) -> dict[str, dict[str, list[str]]]:
    """So many captions of each image by those that need no captioner, by name.

    Raises:
        UsageError: the images have no captions of people.
    """
    if listed is None:
        raise UsageError(f"{data}: these images have no captions of people, which could be copied")
    from sacrecap_captioning.captioned_images import CaptionedImages, given_features
    from sacrecap_captioning.generation import blind_sets, is_run
    from sacrecap_captioning.run_folder import RunFolder, with_features

    file, cache = places(features)
    trained = not _is_address(captioner) and is_run(captioner)
    run = with_features(RunFolder.open(captioner), file) if trained else None
    if run is None:
        images = CaptionedImages(listed, None)
    else:
        vectors = given_features(run.settings)
        place = data or run.settings.data
        images = CaptionedImages.read(place, on_missing=on_missing, features=vectors, listed=listed)
    return blind_sets(images, split, number, run, cache)


@contextmanager
def torch_needed(what: str) -> Iterator[None]:
    """Raises `MissingDependencyError` where the block imports torch, torchvision or Pillow, and it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"torch", "torchvision", "PIL"}:
            raise
        raise MissingDependencyError(what, extra="train") from None


def one_thread() -> None:
    """Lets torch compute in one thread, which is fastest for small networks, unless OMP_NUM_THREADS is set.

    A step of Att2in takes three times as long with two threads as with one, and more on a busy machine: the threads
    wait for each other after each of its many small products.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(1)


def bar(done: int, of: int) -> str:
    """A bar, and how much is done, for the line that a terminal shows."""
    filled = 20 * done // max(1, of)
    return f"{'█' * filled}{'░' * (20 - filled)} {done:,} of {of:,}"


def show(what: str, done: int, of: int) -> None:
    """Shows a bar on the line of a terminal."""
    stage.text = f"{what} {bar(done, of)}"


def show_images(what: str, done: int, images: int) -> None:
    """The same, of images."""
    stage.text = f"{what} {bar(done, images)} images"
