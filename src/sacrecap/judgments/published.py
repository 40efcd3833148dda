"""Figures that papers print of metrics on judgments, each with its source: they stand beside what is measured here."""

from __future__ import annotations

from typing import NamedTuple

PROTOCOLS = {
    "flickr8k-expert": "Kendall's τ-c, each rating a data point (Hodosh et al. 2013; Anderson et al. 2016)",
    "flickr8k-cf": "Kendall's τ-b with the share of yes (Hodosh et al. 2013; Hessel et al. 2021)",
    "thumb": "Kendall's τ-b with the rating (Kasai et al. 2022)",
    "pascal-50s": "accuracy where people chose between two captions (Vedantam et al. 2015)",
    "abstract-50s": "accuracy where people chose between two captions (Vedantam et al. 2015)",
    "d-foil": "accuracy between a caption and the same with a wrong detail (Lin et al. 2025)",
    "foil": "accuracy between a caption and the same with a wrong word (Shekhar et al. 2017)",
    "msvd-eval": "Kendall's τ-c with the mean of four aspects, each person's a data point (Tong et al. 2025)",
    "polaris": "Kendall's τ-c with the rating (Wada et al. 2024)",
    "nebula": "Kendall's τ-c with the rating (Matsuda et al. 2024)",
    "composite": "Kendall's τ-c with the rating (Aditya et al. 2015)",
    "pairs": "accuracy where people chose between two captions",
    "ratings": "Kendall's τ-c with the rating",
}
"""What is measured on judgments of each data set or format, and who did so first."""

STATISTICS = {"flickr8k-cf": "kendall_b", "thumb": "kendall_b"}
"""What papers report of ratings of a data set, where it is not τ-c."""

_TABLE = """
flickr8k-expert | CLIPScore    | 0.512 | Hessel et al., EMNLP 2021
flickr8k-expert | RefCLIPScore | 0.530 | Hessel et al., EMNLP 2021
flickr8k-expert | PAC-S        | 0.543 | Sarto et al., CVPR 2023, as capevalkit 0.1.3 expects
flickr8k-expert | RefPAC-S     | 0.559 | Sarto et al., CVPR 2023, as capevalkit 0.1.3 expects
flickr8k-expert | Polos        | 0.564 | Wada et al., CVPR 2024, as capevalkit 0.1.3 expects
flickr8k-expert | FLEUR        | 0.530 | Lee et al., ACL 2024
flickr8k-expert | EXPERT       | 0.567 | as capevalkit 0.1.3 expects
flickr8k-cf     | CLIPScore    | 0.344 | Hessel et al., EMNLP 2021, as capevalkit 0.1.3 expects
flickr8k-cf     | RefCLIPScore | 0.364 | Hessel et al., EMNLP 2021, as capevalkit 0.1.3 expects
flickr8k-cf     | PAC-S        | 0.360 | Sarto et al., CVPR 2023, as capevalkit 0.1.3 expects
flickr8k-cf     | RefPAC-S     | 0.376 | Sarto et al., CVPR 2023, as capevalkit 0.1.3 expects
flickr8k-cf     | Polos        | 0.378 | Wada et al., CVPR 2024, as capevalkit 0.1.3 expects
flickr8k-cf     | FLEUR        | 0.386 | Lee et al., ACL 2024, as capevalkit 0.1.3 expects
polaris         | CIDEr        | 0.521 | as capevalkit 0.1.3 expects
polaris         | SPICE        | 0.510 | as capevalkit 0.1.3 expects
polaris         | RefPAC-S     | 0.560 | as capevalkit 0.1.3 expects
polaris         | Polos        | 0.578 | Wada et al., CVPR 2024, as capevalkit 0.1.3 expects
nebula          | CIDEr        | 0.488 | as capevalkit 0.1.3 expects
nebula          | SPICE        | 0.474 | as capevalkit 0.1.3 expects
nebula          | RefPAC-S     | 0.506 | as capevalkit 0.1.3 expects
nebula          | Polos        | 0.550 | as capevalkit 0.1.3 expects
composite       | CIDEr        | 0.377 | as capevalkit 0.1.3 expects
composite       | SPICE        | 0.403 | as capevalkit 0.1.3 expects
composite       | RefCLIPScore | 0.554 | Hessel et al., EMNLP 2021, as capevalkit 0.1.3 expects
composite       | RefPAC-S     | 0.573 | Sarto et al., CVPR 2023, as capevalkit 0.1.3 expects
composite       | Polos        | 0.576 | Wada et al., CVPR 2024, as capevalkit 0.1.3 expects
composite       | FLEUR        | 0.635 | Lee et al., ACL 2024, as capevalkit 0.1.3 expects
pascal-50s      | CLIPScore    | 0.807 | Hessel et al., EMNLP 2021: all four categories
pascal-50s      | RefCLIPScore | 0.831 | Hessel et al., EMNLP 2021: all four categories
"""


class PrintedFigure(NamedTuple):
    """A printed figure."""

    metric: str
    value: float
    source: str


def published(dataset: str) -> list[PrintedFigure]:
    """What is printed of metrics on a data set, by its name."""
    rows = [[cell.strip() for cell in line.split("|")] for line in _TABLE.strip().split("\n")]
    return [PrintedFigure(metric, float(value), source) for name, metric, value, source in rows if name == dataset]
