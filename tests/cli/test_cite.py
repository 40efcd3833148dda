"""`sacrecap cite` prints the software and the publications of the metrics."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sacrecap
from runner import Runner
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import own_metrics
from sacrecap.resources.publications import publications, read_bibtex

REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "misc": {"author", "title", "year", "url"},
}


def test_the_default_metrics(run: Runner) -> None:
    entries = read_bibtex(run.ok("cite"))
    assert [entry.key for entry in entries] == [
        "sacrecap",
        "papineni2002bleu",
        "denkowski2014meteor",
        "lin2004rouge",
        "vedantam2015cider",
        "chen2015coco",
    ]
    software = entries[0].fields
    assert software["note"] == f"Version {sacrecap.__version__}"
    assert software["url"] == "https://github.com/sacrecap/sacrecap"


def test_groups_combinations_and_sets_each_once(run: Runner) -> None:
    keys = [entry.key for entry in read_bibtex(run.ok("cite", "--metrics", "spider, combine(spice, cider-d), mbleu-1"))]
    assert keys == [
        "sacrecap",
        "liu2017spider",
        "anderson2016spice",
        "vedantam2015cider",
        "chen2015coco",
        "shetty2017speaking",
        "wang2019describing",
    ]


def test_names_are_arguments_too(run: Runner) -> None:
    assert run.ok("cite", "cider-d", "spice") == run.ok("cite", "--metrics", "cider-d,spice")
    for same in (["cider spice"], ["cider", "--metrics", "spice"], ["CIDEr,SPICE"]):
        assert run.ok("cite", *same) == run.ok("cite", "cider-d", "spice")
    assert "unknown metric 'spicy' (did you mean 'spice'?)" in run.refused("cite", "spicy")


def test_text(run: Runner) -> None:
    lines = run.ok("cite", "--metrics", "bleu-4", "--format", "text").splitlines()
    assert lines[1] == (
        "Kishore Papineni, Salim Roukos, Todd Ward, Wei-Jing Zhu. BLEU: a Method for Automatic Evaluation of Machine "
        "Translation. Proceedings of the 40th Annual Meeting of the Association for Computational Linguistics, 2002, "
        "pages 311–318. https://doi.org/10.3115/1073083.1073135"
    )
    everything = run.ok("cite", "--metrics", "all, diversity", "--format", "text")
    assert not re.search(r"[{}\\]", everything)


@pytest.mark.parametrize("metric", own_metrics(), ids=lambda metric: metric.name)
def test_every_metric_has_a_publication(metric: Metric) -> None:
    """Its year stands in the metric's `source` too, which says where in the publication the formula is."""
    assert metric.cites
    beside = {"chen2015coco", "kilickaya2017reevaluating"}  # the code and the use of a formula, not its paper
    members = {key for part in metric.parts if part != metric for key in part.cites}
    for key in {*metric.cites} - beside - members:
        entry = read_bibtex(key)[0] if key.startswith("@") else publications()[key]
        assert entry.fields["year"] in metric.source


def test_every_entry_is_whole_and_cited() -> None:
    cited = {key for metric in own_metrics() for key in metric.cites if not key.startswith("@")}
    assert {*publications()} == cited | {"sacrecap"}
    for entry in publications().values():
        assert REQUIRED[entry.kind] <= {*entry.fields}, entry.key
        assert re.fullmatch(r"\d{4}", entry.fields["year"])
        assert re.fullmatch(r"\d+--\d+", entry.fields.get("pages", "1--2"))
        assert entry.to_bibtex().count("{") == entry.to_bibtex().count("}")
        assert read_bibtex(entry.to_bibtex()) == [entry]
        if entry.key != "sacrecap":
            assert entry.key.startswith(re.split(r"[ ,]", entry.fields["author"])[0].lower()), entry.key
            assert entry.fields["year"] in entry.key


def test_a_metric_of_a_plugin_brings_its_entry(run: Runner) -> None:
    (run.folder / "lengths.py").write_text(
        "import sacrecap\n"
        "entry = '@article{doe2030, author = \"Doe, Jo\", title = {{L}engths}, journal={J}, year = 2030}'\n"
        "@sacrecap.metric(cites=[entry])\n"
        "def lengths(candidate):\n    'Long.'\n    return len(candidate)\n"
        "@sacrecap.metric(cites=['Doe 2030'])\n"
        "def badly(candidate):\n    'Long.'\n    return len(candidate)\n"
    )
    given = ("cite", "--plugin", "lengths.py", "--metrics")
    assert run.ok(*given, "lengths", "--format", "text").splitlines()[1] == "Jo Doe. Lengths. J, 2030"
    assert "badly: cites must hold BibTeX entries" in run.refused(*given, "badly")


@pytest.mark.parametrize(
    "text",
    ["doe", "@misc{a, title {x}}", "@misc{a, title = {x}", "@misc{a, year = x}", "@misc{a", '@misc{a, year = "x}'],
)
def test_what_is_not_bibtex_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not "):
        read_bibtex(text)


def test_the_citation_file_says_the_same_of_the_software() -> None:
    path = Path(__file__).parents[2] / "CITATION.cff"
    if not path.exists():
        pytest.skip("no CITATION.cff")
    text = path.read_text(encoding="utf-8")
    stated = dict(re.findall(r"^([\w-]+): *[\"']?(.*?)[\"']?$", text, re.MULTILINE))
    software = publications()["sacrecap"].fields
    assert stated["title"] == software["title"]
    assert stated["version"] == sacrecap.__version__
    assert software["url"] in {stated.get("repository-code"), stated.get("url")}
