"""Checks, before any training, that all captioners of a sweep can be trained and their sets be made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from sacrecap.errors import UsageError
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.decoding.generation import check_sees_changes
from sacrecap_captioning.decoding.sets import TrainedSpeaker, set_method
from sacrecap_captioning.mixture import EVALUATOR, RETRIEVAL, Mixture
from sacrecap_captioning.models import Sizes, build
from sacrecap_captioning.names import WORDS
from sacrecap_captioning.rewards import TrainingCaptions, load_reward
from sacrecap_captioning.rewards.retrieval import RetrievalModel
from sacrecap_captioning.sweep.plan import Sweep, SweepCell, SweepPlan, rewards_retrieval
from sacrecap_captioning.training.settings import check_evaluator
from sacrecap_captioning.vocabulary import Vocabulary

_CAPTIONS = ((("a", "dog"),), (("a", "cat"),))
"""The tiny data of the check: two images."""


def check_sweep(sweep: Sweep, images: CaptionedImages) -> SweepPlan:
    """Tries every model, method and reward of the sweep on tiny data.

    A method, or a loss, that cannot be used with some models is left out for those.

    Raises:
        UsageError: a model that the images are not for; a method or a loss that no model is for, or a model that none
            of them is for; a number of captions that a method does not make; a batch larger than the training split,
            or a reward that cannot be had.
        DataError: the file of the retrieval model cannot be used.
    """
    train = images.split("train")
    settings = sweep.settings(SweepCell(sweep.models[0], 0), WORDS)
    for what, batch in (("--batch", settings.batch), ("--reward-batch", sweep.reward_batch)):
        if batch > len(train):
            raise UsageError(f"a batch of {batch:,} images out of {len(train):,}; choose a smaller {what}")
    vocabulary = Vocabulary.build((caption for image in _CAPTIONS for caption in image), least=1)
    objects = {label for image in train for label in image.objects}
    sizes = Sizes(len(vocabulary), 1, hidden=1, embedding=1, attention=1, latent=1, objects=len(objects))
    models = {name: build(name, sizes) for name in sweep.models}
    losses = _fitting(sweep.models, sweep.mixtures, lambda model, loss: check_evaluator(model, Mixture.parse(loss)))
    for method in sweep.methods:
        check_sees_changes(set_method(method), sweep.training.get("features"))
    methods = _fitting(
        sweep.models,
        sweep.methods,
        lambda model, method: set_method(method).check(TrainedSpeaker(models[model], vocabulary), sweep.set_size),
    )
    _check_rewards(sweep, TrainingCaptions(vocabulary, _CAPTIONS, objects=[Counter(objects)] * 2 if objects else None))
    return SweepPlan(losses[0], methods[0], sweep.seeds, (*losses[1], *methods[1]))


def _fitting(
    models: Sequence[str], others: Sequence[str], check: Callable[[str, str], object]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """By model, those of the others that it can be used with; and of each pair left out, a line that says why.

    Raises the error of a pair where a model, or one of the others, is left with nothing.
    """
    errors: dict[tuple[str, str], UsageError] = {}
    for model in models:
        for other in others:
            try:
                check(model, other)
            except UsageError as error:
                errors[model, other] = error
    for pairs in (
        *([(model, other) for other in others] for model in models),
        *([(model, other) for model in models] for other in others),
    ):
        if all(pair in errors for pair in pairs):
            raise errors[pairs[0]]
    fitting = {model: tuple(other for other in others if (model, other) not in errors) for model in models}
    return fitting, [f"{model} with {other} is left out: {error}" for (model, other), error in errors.items()]


def _check_rewards(sweep: Sweep, training: TrainingCaptions) -> None:
    names = {name for loss in sweep.mixtures for name in Mixture.parse(loss).rewards} - {RETRIEVAL, EVALUATOR}
    given = sweep.training.get("retrieval")
    if given is not None:
        if not any(map(rewards_retrieval, sweep.mixtures)):
            raise UsageError(f"{given}: no loss of the sweep has the reward {RETRIEVAL}; leave --retrieval out")
        RetrievalModel.load(given)
    for name in sorted(names):
        load_reward(name, training)
