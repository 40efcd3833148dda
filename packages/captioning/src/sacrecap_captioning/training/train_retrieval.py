"""Trains a retrieval model on the data of a training run, and keeps it in a file.

trained = train_retrieval(RunFolder.open("runs/fc"))
trained.model.save("runs/fc/retrieval.pt")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sacrecap.data.source import PathLike
from sacrecap.errors import DataError
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.models.image_sentence_space import ImageSentenceSpace, hinge, recalls, similarities
from sacrecap_captioning.rewards.retrieval import RetrievalModel
from sacrecap_captioning.training.data import Batches, Split, prepare
from sacrecap_captioning.training.images import read_images
from sacrecap_captioning.training.run_folder import RunFolder, with_features

_ROWS = 512
"""Images or captions put into the space at once."""


@dataclass(frozen=True)
class TrainedRetrieval:
    """The result of training."""

    model: RetrievalModel
    epoch: int
    """Epoch of the best validation; the model is that of this epoch."""
    recalls: dict[str, float]
    """Recalls at that validation."""


def train_retrieval(
    run: RunFolder,
    *,
    epochs: int = 30,
    batch: int = 64,
    rate: float = 2e-3,
    space: int = 256,
    seed: int = 0,
    images: CaptionedImages | None = None,
    features: PathLike | None = None,
    cache: PathLike | None = None,
    device: torch.device | str = "cpu",
    progress: Callable[[int, float, dict[str, float]], None] | None = None,
) -> TrainedRetrieval:
    """Trains on the images, features, tokens and vocabulary of a run of `sacrecap caption train`.

    The first half of the epochs counts all negatives (eq. 5), the second the hardest (eq. 6), at a tenth of the rate:
    from random weights the hardest alone draw all vectors into one. The best epoch by the sum of recalls on the
    validation split is kept.

    Args:
        run: the run.
        epochs: passes over the training images, one caption of each.
        batch: images per step.
        rate: learning rate of Adam in the first half.
        space: E, numbers of a vector.
        seed: of weights, order and captions.
        images: the data set, where it is read already.
        features: where the file of the run's features is now, for a run that was trained with one.
        cache: folder of frozen features.
        device: where it learns.
        progress: told after each epoch its number, loss and recalls.

    Raises:
        DataError: the data are not those of the run, or have too few images.
    """
    run = with_features(run, features)
    settings = run.settings
    images = images or read_images(settings)
    if images.checksum != run.data_checksum:
        raise DataError(f"{settings.data}: its images, splits or captions are not those of the run {run.path}")
    data = prepare(images, run.encoder(), replace(settings, train_encoder=False), cache=cache)
    if len(data.train) < 2:
        raise DataError(f"{settings.data}: a retrieval model tells images apart, and the training split has one")
    device = torch.device(device)
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator)))
        model = ImageSentenceSpace(len(run.vocabulary), run.sizes.feature, space=space).to(device)
    batches = Batches(
        data.train, data.train.encoded(run.vocabulary, settings.length), min(batch, len(data.train)), 1, seed
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    best: tuple[float, int, dict[str, float], dict[str, Tensor]] | None = None
    for epoch in range(epochs):
        hardest = epoch >= (epochs + 1) // 2
        for group in optimiser.param_groups:
            group["lr"] = rate / 10 if hardest else rate
        loss = _epoch(model, batches, epoch, optimiser, hardest)
        found = _recalls(model, data.val, run, device)
        if best is None or sum(found.values()) > best[0]:
            state = {name: value.detach().clone() for name, value in model.state_dict().items()}
            best = (sum(found.values()), epoch + 1, found, state)
        if progress is not None:
            progress(epoch + 1, loss, found)
    assert best is not None  # noqa: S101 - epochs are at least 1
    _, chosen, found, state = best
    model.load_state_dict(state)
    model = model.eval().cpu()
    trained = RetrievalModel(model, run.vocabulary, _embedded(model, data.train, torch.device("cpu")), images.checksum)
    return TrainedRetrieval(trained, chosen, found)


def _epoch(
    model: ImageSentenceSpace, batches: Batches, epoch: int, optimiser: torch.optim.Optimizer, hardest: bool
) -> float:
    """A pass over the images; the mean loss."""
    model.train()
    device = model.image.weight.device
    losses = []
    for step in range(epoch * len(batches), (epoch + 1) * len(batches)):
        batch = batches.at(step, device)
        cosines = similarities(model.images(batch.features.pooled), model.sentences(batch.captions))
        loss = hinge(cosines, hardest=hardest)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimiser.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def _recalls(model: ImageSentenceSpace, split: Split, run: RunFolder, device: torch.device) -> dict[str, float]:
    model.eval()
    captions = split.encoded(run.vocabulary, run.settings.length)
    owners = torch.cat([torch.full((len(rows),), image) for image, rows in enumerate(captions)])
    rows = torch.cat(captions)
    parts = [rows[start : start + _ROWS].to(device) for start in range(0, len(rows), _ROWS)]
    sentences = torch.cat([model.sentences(part) for part in parts])
    return recalls(_embedded(model, split, device), sentences.cpu(), owners)


@torch.no_grad()
def _embedded(model: ImageSentenceSpace, split: Split, device: torch.device) -> Tensor:
    """(I, E): the images of the split, on the CPU."""
    starts = range(0, len(split), _ROWS)
    found = [split.features(torch.arange(start, min(start + _ROWS, len(split))), device) for start in starts]
    return torch.cat([model.images(features.pooled).cpu() for features in found])
