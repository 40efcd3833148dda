"""Whether all captioners of a sweep can be trained and all their sets be made: asked before the first of them is."""

from __future__ import annotations

from collections import Counter

from capeval.errors import UsageError
from capeval_captioning.data.images import CaptionedImages
from capeval_captioning.data.vocabulary import Vocabulary
from capeval_captioning.decoding.generation import check_sees_changes
from capeval_captioning.decoding.sets import TrainedSpeaker, set_method
from capeval_captioning.models import Sizes, build
from capeval_captioning.names import WORDS
from capeval_captioning.retrieval.training import RetrievalModel
from capeval_captioning.rewards import TrainingCaptions, load_reward
from capeval_captioning.sweep.grid import Cell, Sweep
from capeval_captioning.training.mixture import RETRIEVAL, Mixture

_CAPTIONS = ((("a", "dog"),), (("a", "cat"),))
"""Of two images: what next to nothing is."""


def check_sweep(sweep: Sweep, images: CaptionedImages) -> None:
    """Tries every model, method and reward of the sweep on next to nothing.

    Raises:
        UsageError: a model that the images are not for, a method that a model or the number of captions is not for, a
            batch larger than the training split, or a reward that cannot be had.
        DataError: the file of the retrieval model cannot be used.
    """
    train = images.split("train")
    settings = sweep.settings(Cell(sweep.models[0], 0), WORDS)
    for what, batch in (("--batch", settings.batch), ("--reward-batch", sweep.reward_batch)):
        if batch > len(train):
            raise UsageError(f"a batch of {batch:,} images out of {len(train):,}; choose a smaller {what}")
    vocabulary = Vocabulary.build((caption for image in _CAPTIONS for caption in image), least=1)
    objects = {label for image in train for label in image.objects}
    _check_models(sweep, vocabulary, len(objects))
    _check_rewards(sweep, TrainingCaptions(vocabulary, _CAPTIONS, objects=[Counter(objects)] * 2 if objects else None))


def _check_models(sweep: Sweep, vocabulary: Vocabulary, objects: int) -> None:
    sizes = Sizes(len(vocabulary), 1, hidden=1, embedding=1, attention=1, latent=1, objects=objects)
    for name in sweep.models:
        speaker = TrainedSpeaker(build(name, sizes), vocabulary)
        for method in sweep.methods:
            chosen = set_method(method)
            chosen.check(speaker, sweep.set_size)
            check_sees_changes(chosen, sweep.training.get("features"))


def _check_rewards(sweep: Sweep, training: TrainingCaptions) -> None:
    names = {name for weight in sweep.lambdas for name in Mixture.parse(sweep.loss(weight)).rewards}
    if RETRIEVAL in names:
        if sweep.training.get("retrieval") is None:
            raise UsageError(
                "the reward retrieval needs a trained retrieval model: capeval caption retrieval trains one, "
                "--retrieval FILE names it"
            )
        RetrievalModel.load(sweep.training["retrieval"])
    for name in sorted(names - {RETRIEVAL}):
        load_reward(name, training)
