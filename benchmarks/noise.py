"""How far a captioner's words depend on its noise, or latent vector: runs of `sacrecap caption train`.

usage: noise.py RUN [RUN ...] [--features DIR]

Per run, on the captions of its validation images: the mean over words of KL(p ‖ q) in nats, where p and q are the
distributions of the next word for two draws of the noise, and the mean entropy of p beside it.
"""

from __future__ import annotations

import argparse

import torch

from sacrecap_captioning.data.captioned_images import CaptionedImages
from sacrecap_captioning.models import LatentCaptioner
from sacrecap_captioning.models.captioner import until_end
from sacrecap_captioning.training.data import Batches, prepare
from sacrecap_captioning.training.run_folder import RunFolder


@torch.inference_mode()
def measure(run: RunFolder, cache: str | None, draws: int = 4) -> tuple[float, float]:
    """Mean KL divergence and mean entropy per word, in nats."""
    settings = run.settings
    images = CaptionedImages.read(settings.data, on_missing=settings.on_missing).first(settings.images)
    data = prepare(images, run.encoder(), settings, cache=cache)
    model = run.captioner().eval()
    if not isinstance(model, LatentCaptioner):
        raise SystemExit(f"{run.path}: {settings.model} has no latent vector")
    encoded = data.val.encoded(run.vocabulary, settings.length)
    batch = Batches(data.val, encoded, len(data.val), settings.captions, 0).at(0, torch.device("cpu"))
    features, words = batch.features.repeated(settings.captions), until_end(batch.captions)
    torch.manual_seed(0)
    divergences, entropies = [], []
    for _ in range(draws):
        p, q = (model.unrolled(model.begin(features), batch.captions).log_softmax(2) for _ in range(2))
        divergences.append(float((p.exp() * (p - q)).sum(2)[words].mean()))
        entropies.append(float(-(p.exp() * p).sum(2)[words].mean()))
    return sum(divergences) / draws, sum(entropies) / draws


def main() -> None:
    """Prints a line per run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--features", metavar="DIR")
    given = parser.parse_args()
    for path in given.runs:
        divergence, entropy = measure(RunFolder.open(path), given.features)
        print(f"{path}: KL of two draws {divergence:.4f} nats per word, entropy {entropy:.3f}")


if __name__ == "__main__":
    main()
