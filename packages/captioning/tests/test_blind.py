"""Captions that need no captioner: the most typical ones of all, and those of the images that look most alike."""

from __future__ import annotations

import torch

from sacrecap.data.captioned import CaptionedImage
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.captioner import Features
from sacrecap_captioning.generation import nearest_captions, typical_captions

SAID = {
    "beach": ("a dog runs on the beach", "a brown dog runs"),
    "sand": ("a dog runs on the sand", "the dog is in the sand"),
    "park": ("a dog runs in the park", "a dog in a park"),
    "city": ("two cats sit in a city", "cats in the city"),
}
TRAIN = CaptionedImages([CaptionedImage(name, name, "train", said) for name, said in SAID.items()], None)
TEST = CaptionedImages([CaptionedImage(name, name, "test", ()) for name in ("x", "y")], None)


class Rows:
    def __init__(self, vectors: list[list[float]]) -> None:
        self.vectors = torch.tensor(vectors, dtype=torch.float32)

    def __call__(self, numbers: torch.Tensor) -> Features:
        return Features(self.vectors[numbers], self.vectors[numbers][:, None])


def test_the_most_typical_captions_suit_most_images() -> None:
    typical = typical_captions(TRAIN, 3)
    assert len(set(typical)) == 3
    assert all("dog" in caption for caption in typical)
    assert typical_captions(TRAIN, 3) == typical
    assert len(typical_captions(TRAIN, 100)) == 8


def test_captions_of_the_nearest_images() -> None:
    train, test = Rows([[1, 0], [9, 1], [0, 1], [-1, 0]]), Rows([[0.1, 0.0], [-3, 0.1]])
    found = nearest_captions(TRAIN, TEST, train, test, 3)
    assert found == {"x": [*SAID["beach"], SAID["sand"][0]], "y": [*SAID["city"], SAID["park"][0]]}
    assert nearest_captions(TRAIN, TEST, train, test, 20)["x"][:4] == [*SAID["beach"], *SAID["sand"]]
