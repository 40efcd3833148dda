"""The images of a run, read without torch, so that errors in them are reported at once."""

from __future__ import annotations

from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.training.settings import Settings


def given_features(settings: Settings) -> FeatureFile | None:
    """The file of features of a run, where it has one instead of an encoder."""
    return None if settings.features is None else FeatureFile(settings.features)


def read_images(settings: Settings) -> CaptionedImages:
    """The images that a run uses, of all splits."""
    images = CaptionedImages.read(settings.data, on_missing=settings.on_missing, features=given_features(settings))
    return images.first(settings.images)
