"""CLIPScore and RefCLIPScore: whether the caption fits the picture.

Hessel, Holtzman, Forbes, Le Bras, Choi, *CLIPScore: A Reference-free Evaluation Metric for Image Captioning* (EMNLP
2021), equations 1 and 2.

    CLIPScore(c, v)       = w · max(cos(c, v), 0)
    RefCLIPScore(c, R, v) = H-Mean(CLIPScore(c, v), max(max_{r ∈ R} cos(c, r), 0))

v is the model's vector of the image; c and r are the vectors of "A photo depicts " followed by the caption.

Where papers and programs differ: docs/reference/metrics/clipscore.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError, option, spelled, warn
from sacrecap.metrics.base import Ready, Status
from sacrecap.metrics.declared import parameter
from sacrecap.metrics.learned import CutCaptions, LearnedMetric
from sacrecap.resources.needs import Needs
from sacrecap.resources.networks import Clip, load, looked_at


def lacks_images() -> str:
    """Ending of the message, after the metric's name, if a call gives no images."""
    column = spelled(python="", command=" or a column")
    return f"needs the images: give {option('images', 'DIR')}, a tar file, a pattern{column}"


LIMIT = 77
"""Most tokens that CLIP reads."""


class ClipScore(LearnedMetric):
    """Cosine of caption and image in the space of a model of both; corpus score = mean."""

    w: float = parameter("weight of the cosine, which stretches it to about 0 to 1", default=2.5, above=0.0)
    long: bool = parameter(
        "read captions up to the model's limit, such as Long-CLIP's 248 tokens; no cuts at CLIP's 77", default=False
    )

    title = "CLIPScore"
    summary = "The caption fits the picture."
    equation = "CLIPScore = w max(cos(c, v), 0)"
    source = "Hessel et al., EMNLP 2021, eq. 1"
    cites = ("hessel2021clipscore",)
    upper = 2.5
    needs: ClassVar[tuple[str, ...]] = ("images", "device")
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0"}
    usual_model = "openai/clip-vit-base-patch32"
    compares_references = False

    @property
    def largest(self) -> float | None:
        return self.w

    def status(self, needs: Needs) -> Status:
        status = super().status(needs)
        if status.hindrance is None and "images" not in needs:
            return Status.left_out(f"it {lacks_images()}")
        return status

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the model, and finds the image of each caption."""
        self.checkpoint.check_usable(self.label)
        if "images" not in needs:
            raise UsageError(f"{self.label} {lacks_images()}")
        from sacrecap.resources.image_files import files_of_images

        images = needs.images(corpus)
        files = files_of_images(needs, images)
        clip = load(Clip, self.checkpoint, needs)
        if self.long and clip.limit <= LIMIT:
            warn(f"{self.label}: {self.checkpoint} reads {clip.limit} tokens at most, so long=yes changes nothing")
        tokenizer = clip.tokenizer(None if self.long else LIMIT)
        more = f"; {self.name}(long=yes) reads {clip.limit}" if clip.limit > tokenizer.limit else ""
        captions = CutCaptions.of(corpus, tokenizer.limit, references=self.compares_references, remedy=more)
        image_of = dict(zip(corpus.image_ids, images, strict=True))

        def scores() -> Iterator[float]:
            pictures = looked_at(clip, files, needs)
            vectors = captions.vectors(clip, tokenizer, needs, "A photo depicts {}".format)
            for image, candidate, references in captions.pairs():
                if not candidate.strip():
                    yield 0.0
                    continue
                mine = vectors[candidate]
                fit = self.w * max(cosine(mine, pictures[image_of[image]][0]), 0.0)
                yield self.with_references(fit, (cosine(mine, vectors[text]) for text in references if text.strip()))

        def read() -> dict[str, int]:
            pictures = looked_at(clip, files, needs)
            return {"pictures": _core.digest(images, [pictures[image][1].hex() for image in images])}

        return Ready(corpus._core, signature=(f"model:{clip.identity}",), digests=read, own=(scores, captions))

    def with_references(self, fit: float, cosines: Iterable[float]) -> float:  # noqa: ARG002
        """The score from that of caption and image, and the cosines of caption and references."""
        return fit


class RefClipScore(ClipScore):
    """Harmonic mean of CLIPScore and the cosine with the nearest reference; corpus score = mean."""

    title = "RefCLIPScore"
    summary = "The caption fits the picture, and means what a reference means."
    equation = "RefCLIPScore = 2 s r / (s + r),  s = w max(cos(c, v), 0),  r = max(max_j cos(c, r_j), 0)"
    source = "Hessel et al., EMNLP 2021, eq. 2"
    cites = ("hessel2021clipscore",)
    upper = 2 * 2.5 / 3.5
    needs = ("references", "images", "device")
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "empty reference": "it is left out; 0 if there is no other",
    }

    compares_references = True

    @property
    def largest(self) -> float | None:
        return 2 * self.w / (self.w + 1)

    def with_references(self, fit: float, cosines: Iterable[float]) -> float:
        nearest = max(cosines, default=0.0)
        return 2 * fit * nearest / (fit + nearest) if fit > 0 and nearest > 0 else 0.0


def cosine(a: Any, b: Any) -> float:
    """The cosine of two unit vectors, at most 1."""
    import numpy as np

    return min(float(np.dot(a.astype(np.float64), b.astype(np.float64))), 1.0)
