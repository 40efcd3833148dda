"""The two bootstraps on the same captions: how far apart their intervals are, beside what the seed alone moves.

    python benchmarks/bootstraps.py references.json captions.json

For each metric: the interval by the multinomial and by the Poisson bootstrap, the ratio of their widths, and the ratio
of the widths of two seeds of the multinomial one; means over `--seeds` seeds.
"""

from __future__ import annotations

import argparse
import statistics

import sacrecap


def main() -> None:
    """Prints a row per metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("references")
    parser.add_argument("captions")
    parser.add_argument("--metrics", default="bleu-4, meteor, rouge-l, cider-d")
    parser.add_argument("--images", type=int, help="score only the first so many images")
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    corpus = sacrecap.Corpus(given.references, given.captions, on_missing="skip")
    if given.images:
        images = corpus.image_ids[: given.images]
        pairs = {image: corpus.captions(image) for image in images}
        references = {image: own for image, (_, own) in pairs.items()}
        corpus = sacrecap.Corpus(references, {image: one or "" for image, (one, _) in pairs.items()})
    print(f"{len(corpus):,} images, {given.seeds} seeds")
    widths: dict[str, dict[str, list[float]]] = {}
    ends: dict[str, dict[str, list[float]]] = {}
    from sacrecap.metrics.registry import parse_metrics
    from sacrecap.scoring.intervals import Resampling
    from sacrecap.scoring.score import score_corpus

    metrics = parse_metrics(given.metrics)
    for seed in range(given.seeds):
        for bootstrap in ("multinomial", "poisson"):
            how = Resampling(bootstrap=bootstrap, seed=seed)
            for key, score in score_corpus(corpus, metrics, resampling=how).items():
                low, high = score.interval or (0.0, 0.0)
                widths.setdefault(key, {}).setdefault(bootstrap, []).append(high - low)
                ends.setdefault(key, {}).setdefault(bootstrap, []).append((low + high) / 2)
    for key, own in widths.items():
        mean = {name: statistics.mean(values) for name, values in own.items()}
        spread = statistics.stdev(own["multinomial"]) / mean["multinomial"]
        shift = statistics.mean(ends[key]["poisson"]) - statistics.mean(ends[key]["multinomial"])
        print(
            f"{key:10} width {mean['multinomial']:.4f}, "
            f"Poisson / multinomial {mean['poisson'] / mean['multinomial']:.3f}, "
            f"centre moves by {shift / mean['multinomial']:+.3f} widths, seeds vary by {spread:.3f}"
        )


if __name__ == "__main__":
    main()
