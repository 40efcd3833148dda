"""Scores from a cluster of several nodes: local's to the bit, with faults in the input as everywhere."""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from test_stream import Made, two_inputs, write

import sacrecap
from laws.odd_rows import METRICS as ODD
from laws.odd_rows import bits, write_both
from sacrecap.data import partitioned
from sacrecap.engines import EngineOptions
from sacrecap.engines.work import WorkFolder
from sacrecap.errors import DataError

pytestmark = pytest.mark.ray


@pytest.fixture(autouse=True)
def connected(cluster: Any) -> None:
    """Every engine here uses the driver's connection to the tests' cluster."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, str]:
    """Twelve files: one has no row, one has most."""
    corpus = Made(5, 120, single=False)
    return corpus, corpus.write(tmp_path_factory.mktemp("rows") / "data", files=12, row_group=9)


def on(engine: str, *columns: str, **options: Any) -> EngineOptions:
    return EngineOptions(engine, caption_columns=columns, **options)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_scores_are_those_of_all_in_memory(
    made: tuple[Made, str], workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any number of workers, and parts in any order."""
    corpus, folder = made
    find = partitioned.find_parts

    def shuffled(inputs: Any, **_: Any) -> list[Any]:
        parts = find(inputs, part_bytes=1)
        random.Random(workers).shuffle(parts)
        return [dataclasses.replace(part, number=number) for number, part in enumerate(parts)]

    monkeypatch.setattr(partitioned, "find_parts", shuffled)
    metrics = "bleu-4, rouge-l, cider-d, cider-paper, fluency, fluency(n=2)"
    whole = sacrecap.score(corpus.references, corpus.a, metrics, bootstrap="poisson", samples=40)
    stream = sacrecap.score(folder, metrics=metrics, samples=40, engine=on("stream", "a"))
    found = sacrecap.score(folder, metrics=metrics, samples=40, engine=on("ray", "a", workers=workers))
    assert found.to_dict() == whole.to_dict() == stream.to_dict()
    assert str(found) == str(stream) == str(whole)
    assert found.corpus.captions("image 7") == (corpus.a["image 7"], corpus.references["image 7"])


def test_comparisons_are_those_of_all_in_memory(made: tuple[Made, str]) -> None:
    corpus, folder = made
    systems = {"a": corpus.a, "b": corpus.b}
    whole = sacrecap.compare(corpus.references, systems, "cider-d", test="bootstrap", bootstrap="poisson", samples=60)
    found = sacrecap.compare(folder, metrics="cider-d", samples=60, engine=on("ray", "a", "b"))
    assert found.to_dict() == whole.to_dict()


@pytest.mark.filterwarnings("ignore:people are scored on")
def test_caption_sets_are_those_of_all_in_memory(made: tuple[Made, str]) -> None:
    corpus, folder = made
    sets = {"sets": corpus.sets, "others": corpus.others}
    whole = sacrecap.diversity(sets, corpus.references, bootstrap="poisson", samples=30, test="bootstrap")
    engine = on("ray", "sets", "others", references_column="references")
    assert sacrecap.diversity(folder, samples=30, engine=engine).to_dict() == whole.to_dict()


def test_what_only_learns_counts_nothing(made: tuple[Made, str]) -> None:
    corpus, folder = made
    whole = sacrecap.score(corpus.references, corpus.a, "fluency(n=2)", bootstrap="poisson", samples=20)
    found = sacrecap.score(folder, metrics="fluency(n=2)", samples=20, engine=on("ray", "a"))
    assert found.to_dict() == whole.to_dict()


def test_flickr8k(shared: Path, tmp_path: Path) -> None:
    """Real captions: the fifth of each image against the other four."""
    captions: dict[str, list[str]] = {}
    for line in (shared / "data" / "flickr8k" / "Flickr8k.token.txt").read_text("utf-8").splitlines():
        image, _, caption = line.partition("\t")
        captions.setdefault(image.partition("#")[0], []).append(caption)
    references = {image: own[:4] for image, own in captions.items()}
    candidates = {image: own[4] for image, own in captions.items()}
    write(tmp_path / "rows.parquet", list(references), {"references": references, "candidate": candidates}, 500)
    whole = sacrecap.score(references, candidates, "bleu-4, rouge-l, cider-d", bootstrap="poisson", samples=100)
    found = sacrecap.score(str(tmp_path), metrics="bleu-4, rouge-l, cider-d", samples=100, engine="ray")
    assert found.to_dict() == whole.to_dict()


def test_a_damaged_file_among_many_is_named(made: tuple[Made, str], tmp_path: Path) -> None:
    """Its footer is whole, so that only the worker that reads it finds the fault."""
    folder = Made(6, 60, single=True).write(tmp_path / "data", files=9, row_group=4)
    path = Path(folder) / "5.parquet"
    data = bytearray(path.read_bytes())
    data[4:400] = bytes(396)
    path.write_bytes(data)
    message = []
    for engine in ("stream", "ray"):
        with pytest.raises(DataError, match=r"5\.parquet") as caught:
            sacrecap.score(folder, metrics="rouge-l", engine=on(engine, "a"))
        message.append(str(caught.value))
    assert message[0] == message[1]


def test_bad_rows_are_left_out_counted_and_written_aside(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus = Made(6, 60, single=True)
    folder = Path(corpus.write(tmp_path / "data", files=4, row_group=4))
    write(
        folder / "bad.parquet",
        ["x", "y", "z"],
        {"references": {"x": ["a dog"], "y": [], "z": ["a bus"]}, "a": {"x": "a\x00", "y": "a", "z": "a bus"}},
    )
    with pytest.raises(DataError, match=r"bad\.parquet.*on_bad_row=.skip."):
        sacrecap.score(str(folder), metrics="rouge-l", engine=on("ray", "a"))
    aside = tmp_path / "skipped.jsonl"
    options = on("ray", "a", on_bad_row="skip", skipped=str(aside))
    with pytest.warns(sacrecap.SacrecapWarning, match="2 rows were left out"):
        found = sacrecap.score(str(folder), metrics="rouge-l", samples=40, engine=options)
    rows = [json.loads(line) for line in aside.read_text().splitlines()]
    assert [(Path(row["file"]).name, row["row"], row["image_id"]) for row in rows] == [
        ("bad.parquet", 1, "x"),
        ("bad.parquet", 2, "y"),
    ]
    whole = sacrecap.score(
        {**corpus.references, "z": ["a bus"]}, {**corpus.a, "z": "a bus"}, "rouge-l", bootstrap="poisson", samples=40
    )
    assert found.to_dict() == whole.to_dict()


@pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")
@pytest.mark.parametrize("format_", ["parquet", "jsonl", "csv", "list.json"])
def test_missing_captions_are_those_of_all_in_memory(format_: str, tmp_path: Path) -> None:
    references, captions = write_both(format_, tmp_path, lists=False)
    found = sacrecap.score(references, captions, ODD, interval=None, engine=EngineOptions("ray"))
    assert bits(found) == bits(sacrecap.score(references, captions, ODD, interval=None))


@pytest.mark.parametrize("engine", ["ray", "stream"])
def test_odd_captions_are_found_as_in_memory(engine: str, tmp_path: Path) -> None:
    """Of captions and of caption sets, in many files."""
    references = {str(number): [f"a dog number {number} runs", f"dog {number} on grass"] for number in range(40)}
    odd = ["a dog <unk>", '{"caption": "a dog"}', "", "# A *dog*", "ein Hund", "a dog runs"]
    captions = {image: odd[place % len(odd)] for place, image in enumerate(references)}
    sets = {image: [text, "['a dog', 'a cat']"] for image, text in captions.items()}
    for number in range(3):
        images = list(references)[number::3]
        write(tmp_path / f"{number}.parquet", images, {"references": references, "a": captions, "sets": sets})
    found = sacrecap.score(str(tmp_path), metrics="rouge-l, spice", interval=None, engine=on(engine, "a"))
    whole = sacrecap.score(references, captions, "rouge-l, spice", interval=None)
    assert {"token", "json", "empty"} <= {one.kind for one in found.findings}
    assert found.to_dict() == whole.to_dict()
    of_sets = sacrecap.diversity(
        str(tmp_path), interval=None, engine=on(engine, "sets", references_column="references")
    )
    assert {"token", "list", "json", "empty"} <= {one.kind for one in of_sets.findings}
    assert of_sets.to_dict() == sacrecap.diversity({"sets": sets}, references, interval=None).to_dict()


def test_an_image_that_comes_twice_is_found(made: tuple[Made, str], tmp_path: Path) -> None:
    """By workers that share no memory: with a metric that weighs words, in the first pass, and without."""
    corpus, rows = made
    columns = {"references": corpus.references, "a": corpus.a}
    write(tmp_path / "again.parquet", ["image 5"], columns)
    for metrics in ("rouge-l", "cider-d"):
        with pytest.raises(DataError, match=r"1 image \(image 5\) several times: .* and .*\.parquet, row"):
            sacrecap.score([rows, str(tmp_path)], metrics=metrics, engine=on("ray", "a"))


def test_references_and_candidates_meet_by_image_id(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, _ = made
    references, candidates = two_inputs(corpus, tmp_path)
    options = EngineOptions("ray")
    found = sacrecap.score(references, candidates, "rouge-l, cider-d", samples=20, engine=options)
    whole = sacrecap.score(corpus.references, corpus.a, "rouge-l, cider-d", bootstrap="poisson", samples=20)
    assert found.to_dict() == whole.to_dict()


@pytest.mark.parametrize("engine", ["stream", "ray"])
@pytest.mark.parametrize("stem", [False, True])
def test_document_frequencies_are_those_of_all_in_memory(
    made: tuple[Made, str], tmp_path: Path, engine: str, stem: bool
) -> None:
    """Of images whose references are in one row, or in several files."""
    corpus, rows = made
    expected = sacrecap.DocumentFrequency.build(corpus.references, stem=stem, n=3)
    found = on(engine).document_frequency(rows, tokenizer="ptb", n=3, stem=stem)
    assert found == expected
    captions = [{"image_id": image, "caption": text} for image, own in corpus.references.items() for text in own]
    for number in range(3):
        lines = "".join(json.dumps(row) + "\n" for row in captions[number::3])
        (tmp_path / f"{number}.jsonl").write_text(lines)
    assert on(engine).document_frequency(str(tmp_path), tokenizer="ptb", n=3, stem=stem) == expected


def test_workers_need_not_have_the_file_of_frequencies(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, rows = made
    file = tmp_path / "own.df"
    sacrecap.DocumentFrequency.build(corpus.references).save(file)
    given = sacrecap.DocumentFrequency.load(file)
    expected = sacrecap.score(corpus.references, corpus.a, "cider-d", document_frequency=given, interval=None)
    file.rename(tmp_path / "elsewhere.df")
    found = sacrecap.score(rows, metrics="cider-d", document_frequency=given, interval=None, engine=on("ray", "a"))
    assert found.to_dict() == expected.to_dict()


DRIVER = """
import json, pathlib, sys, time
from sacrecap.engines import driver
from sacrecap.engines.plan import Plan
from sacrecap.engines.ray import RayEngine
from sacrecap.engines.work import WorkFolder
from sacrecap.data.partitioned import ChosenColumns, find_parts
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.intervals import Resampling

address, rows, folder = sys.argv[1:]

class Gated(RayEngine):
    def map(self, function, parts, **options):
        def gated(part):
            while part.number > 3 and not pathlib.Path(folder, "gate").exists():
                time.sleep(0.02)
            return function(part)
        return super().map(gated, parts, **options)

engine = Gated(address)
columns = ChosenColumns("image_id", "references", ("a",))
plan = Plan(parse_metrics("bleu-4, rouge-l"), Needs(), columns, ("system",), samples=40)
work = WorkFolder(folder + "/work")
work.begin({"input": rows}, resume=True)
run = driver.Run(engine, plan, find_parts([rows]), work=work)
found, _ = driver.results(run, Resampling(samples=40, bootstrap="poisson"))
engine.close()
print(json.dumps(found["system"].to_dict()))
"""


def test_a_killed_driver_goes_on_where_it_was(cluster: Any, made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, rows = made
    command = [sys.executable, "-c", DRIVER, cluster.address, rows, str(tmp_path)]
    work = WorkFolder(str(tmp_path / "work"))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as first:
        while len(work.names()) < 4 and first.poll() is None:
            time.sleep(0.02)
        first.kill()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("work/*/*.kept")}
    assert len(kept) == 4
    (tmp_path / "gate").touch()
    again = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    now = {path: path.stat().st_mtime_ns for path in tmp_path.glob("work/*/*.kept")}
    assert len(now) == 12
    assert kept.items() <= now.items()
    whole = sacrecap.score(corpus.references, corpus.a, "bleu-4, rouge-l", bootstrap="poisson", samples=40)
    assert json.loads(again.stdout) == whole.to_dict()


def test_groups_are_those_of_the_stream(tmp_path: Path) -> None:
    domains = ["in", "near", None]
    for file in range(3):
        rows = [
            {"image_id": f"{file}-{n}", "references": [f"a dog number {n}"], "candidate": f"a dog {file * n}"}
            | {"domain": domains[(file + n) % 3]}
            for n in range(7)
        ]
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{file}.parquet", row_group_size=3)
    stream, ray = (
        sacrecap.score(str(tmp_path), metrics="rouge-l, cider-d", samples=20, engine=EngineOptions(name, by="domain"))
        for name in ("stream", "ray")
    )
    assert ray.groups is not None
    assert {name: ray.groups.images(name) for name in ray.groups.scores} == {"in": 7, "near": 7}
    assert ray.to_dict() == stream.to_dict()
