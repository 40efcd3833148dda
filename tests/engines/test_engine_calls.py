"""What a call on an engine reads and writes besides scores: two inputs, each image's scores, bad rows, leftovers."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest
from test_stream import Made, two_inputs, write

import sacrecap
from runner import Runner
from sacrecap.cli.caption_files import CaptionFiles
from sacrecap.cli.engine import EngineChoice, byte_size
from sacrecap.data import partitioned
from sacrecap.data.partitioned import ImageScores
from sacrecap.engines import EngineOptions, calls, passes, progress
from sacrecap.engines.ray import RayEngine
from sacrecap.engines.stream import StreamEngine
from sacrecap.engines.work import OWN
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap.metrics import PythonMetric, Ready
from sacrecap.scoring.intervals import Resampling

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
METRICS = "bleu-4, rouge-l, cider-d"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, str]:
    corpus = Made(7, 80, single=True)
    return corpus, corpus.write(tmp_path_factory.mktemp("rows") / "data", files=5, row_group=9)


def stream(**options: Any) -> EngineOptions:
    return EngineOptions("stream", **{"caption_columns": ("a",), **options})


def local(corpus: Made, system: str = "a", metrics: str = METRICS) -> sacrecap.scoring.result.Result:
    return sacrecap.score(corpus.references, getattr(corpus, system), metrics, bootstrap="poisson", samples=20)


def test_references_and_candidates_meet_by_image_id(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, _ = made
    references, candidates = two_inputs(corpus, tmp_path)
    options = EngineOptions("stream", work=str(tmp_path / "work"))
    found = sacrecap.score(references, candidates, "bleu-4, rouge-l", samples=20, engine=options)
    whole = local(corpus, metrics="bleu-4, rouge-l")
    assert found.to_dict() == whole.to_dict()
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("resume", [False, True])
def test_nothing_else_in_the_work_folder_is_touched(made: tuple[Made, str], tmp_path: Path, resume: bool) -> None:
    """Whatever the names: files and folders may be called as ours are."""
    corpus, rows = made
    references, candidates = two_inputs(corpus, tmp_path)
    work = tmp_path / "work"
    mine = ("notes.txt", "run.json", "results/run.json", "results/1.kept", "1.kept", f"{OWN}/notes.txt", f"{OWN}/1")
    for name in mine:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    options = EngineOptions("stream", work=str(work), resume=resume)
    sacrecap.score(references, candidates, "rouge-l", interval=None, engine=options)
    sacrecap.score(rows, metrics="rouge-l", interval=None, engine=stream(work=str(work), resume=resume))
    left = {path.relative_to(work).as_posix(): path.read_text() for path in work.rglob("*") if path.is_file()}
    assert left == {name: name for name in mine}


def test_an_image_without_candidate(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, _ = made
    references, candidates = two_inputs(corpus, tmp_path)
    write(tmp_path / "a.parquet", list(corpus.a)[2:], {"candidate": corpus.a})
    with pytest.raises(DataError, match=r"no candidate for 2 images \(.*\); add them, or choose on_missing"):
        sacrecap.score(references, candidates, "rouge-l", engine="stream")
    kept = dict(list(corpus.a.items())[2:])
    for on_missing in ("skip", "zero"):
        options = {"metrics": "rouge-l", "on_missing": on_missing, "interval": None}
        whole = sacrecap.score(corpus.references, kept, **options)
        with pytest.warns(UserWarning, match="2 images without a candidate") if on_missing == "skip" else _nothing():
            found = sacrecap.score(references, candidates, engine="stream", **options)
        assert found.to_dict() == whole.to_dict()


def _nothing() -> Any:
    import contextlib

    return contextlib.nullcontext()


def test_each_images_scores_are_a_data_set(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, rows = made
    folder = tmp_path / "scores"
    sacrecap.score(rows, metrics=METRICS, interval=None, engine=stream(per_image=str(folder)))
    manifest = json.loads((folder / "_manifest.json").read_text())
    table = pq.read_table([folder / one["file"] for one in manifest["files"]])
    assert manifest["rows"] == table.num_rows == len(corpus.references)
    whole = local(corpus)
    assert manifest["signatures"] == whole.to_dict()["signatures"]
    places = {image: place for place, image in enumerate(whole.image_ids)}
    order = [places[image] for image in table.column("image_id").to_pylist()]
    for key, score in whole.items():
        assert table.column(key).to_pylist() == score.per_image[order].tolist()
    assert {path.name for path in folder.iterdir()} == {"_manifest.json", *(one["file"] for one in manifest["files"])}


def test_images_that_a_condition_keeps_have_their_columns(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, rows = made
    whole = local(corpus)
    for number, keep in enumerate(("rouge-l > 0.5 and cider-d <= 3", "all")):
        folder = tmp_path / f"{number}"
        sacrecap.score(rows, metrics=METRICS, interval=None, engine=stream(per_image=str(folder), keep=keep))
        scores = zip(whole.image_ids, whole["rouge-l"].per_image, whole["cider-d"].per_image, strict=True)
        kept = [image for image, rouge, cider in scores if keep == "all" or (rouge > 0.5 and cider <= 3)]
        table = pq.read_table(folder)
        assert sorted(table.column("image_id").to_pylist()) == sorted(kept)
        assert 0 < len(kept) <= len(corpus.references)
        for row in table.to_pylist():
            assert row["references"] == corpus.references[row["image_id"]]
            assert (row["a"], row["b"]) == (corpus.a[row["image_id"]], corpus.b[row["image_id"]])
            assert row["rouge-l"] == whole["rouge-l"].per_image[whole.image_ids.index(row["image_id"])]
        assert json.loads((folder / "_manifest.json").read_text())["keep"] == keep


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "rouge-l > 0.5"}, "keep says what is written to per_image; give a folder"),
        ({"keep": "rouge-l", "per_image": "x"}, "keep: 'rouge-l' is no condition; write as 'rouge-l > 0.3'"),
        ({"keep": "rouge-l > 1.2.3", "per_image": "x"}, "'rouge-l > 1.2.3' is no condition"),
        (
            {"keep": "meteor > 1", "per_image": "x"},
            "keep: there is no score 'meteor'; there are bleu-4, rouge-l, cider-d",
        ),
    ],
)
def test_conditions_that_cannot_be(made: tuple[Made, str], options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sacrecap.score(made[1], metrics=METRICS, engine=stream(**options))
    assert not Path("x").exists()


@pytest.mark.filterwarnings("ignore:Intervals of")
def test_lines_stand_beside_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are, in all parts of a file, whatever else they have, without bad ones and blank ones between them."""
    find = partitioned.find_parts
    monkeypatch.setattr(partitioned, "find_parts", lambda inputs, **_: find(inputs, part_bytes=300))
    own: dict[str, object] = {"references": ["a dög runs"], "a": "a dög"}
    rows = [{"image_id": n, **own, "size": [n, None, {"x": 1.5}]} for n in range(20)]
    lines = [json.dumps(row, ensure_ascii=n % 2 > 0) for n, row in enumerate(rows)]
    lines[5] = '{"image_id": 5, "a": "x", "references": NaN}'
    lines[3] = ""
    path = tmp_path / "rows.jsonl"
    path.write_bytes("\r\n".join(lines).encode())
    options = stream(per_image=str(tmp_path / "scores"), keep="rouge-l > 0.5", on_bad_row="skip")
    with pytest.warns(UserWarning, match="1 rows were left out"):
        sacrecap.score(str(path), metrics="rouge-l", engine=options)
    table = pq.read_table(tmp_path / "scores")
    assert table.column_names == ["image_id", "references", "a", "line", "rouge-l"]
    kept = [n for n in range(20) if n not in (3, 5)]
    assert dict(zip(map(int, table["image_id"].to_pylist()), table["line"].to_pylist(), strict=True)) == {
        n: lines[n] for n in kept
    }
    assert len(list((tmp_path / "scores").glob("part-*"))) > 2
    (tmp_path / "coco.json").write_text('[{"image_id": 1, "references": ["a dog"], "candidate": "a dog"}]')
    options = stream(per_image=str(tmp_path / "s"), keep="all", caption_columns=())
    with pytest.raises(DataError, match=r"coco\.json: is read whole and has no rows to stand .*; write it as JSON"):
        sacrecap.score(str(tmp_path / "coco.json"), metrics="rouge-l", engine=options)


class Length(PythonMetric):
    """Needs no references."""

    family, title, summary, equation, source = "length", "Length", "It counts.", "0", "a test"
    upper: ClassVar[float | None] = 9.0
    needs: ClassVar[tuple[str, ...]] = ()
    nothing: ClassVar[dict[str, str]] = {}

    def statistics(self, corpus: sacrecap.Corpus, ready: Ready) -> list[tuple[float]]:
        return [(float(len(corpus.captions(image)[0])),) for image in corpus.image_ids]

    def formula(self, sums: Any) -> float:
        return float(sums[0])


def test_references_are_needed_by_metrics_that_need_some(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, _ = made
    write(tmp_path / "rows.parquet", list(corpus.a), {"caption": corpus.a})
    found = sacrecap.score(str(tmp_path), metrics=[Length()], interval=None, engine="stream")
    assert found["length"].value == sum(map(len, corpus.a.values()))
    with pytest.raises(DataError, match="and not references"):
        sacrecap.score(str(tmp_path), metrics="rouge-l", interval=None, engine="stream")


def test_scores_of_several_systems_are_told_apart(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, rows = made
    folder = tmp_path / "scores"
    options = stream(caption_columns=("a", "b"), per_image=str(folder))
    sacrecap.compare(rows, metrics="rouge-l", samples=40, alpha=0.5, engine=options)
    table = pq.read_table(folder)
    assert sorted(table.column("system").unique().to_pylist()) == ["a", "b"]
    assert table.num_rows == 2 * len(corpus.references)


def test_an_image_that_comes_twice_is_found(made: tuple[Made, str], tmp_path: Path) -> None:
    """In files that are far from each other, with a metric that weighs words and without."""
    corpus, _ = made
    columns = {"references": corpus.references, "a": corpus.a}
    images = list(corpus.references)
    for number in range(4):
        write(tmp_path / f"{number}.parquet", images[number::4], columns)
    write(tmp_path / "9.parquet", [images[5]], columns)
    for metrics in ("rouge-l", "cider-d"):
        places = r".*1\.parquet, row 2 and .*9\.parquet, row 1"
        with pytest.raises(DataError, match=rf"1 image \({images[5]}\) several times: {places}"):
            sacrecap.score(str(tmp_path), metrics=metrics, engine=stream())


def with_bad_rows(corpus: Made, folder: Path) -> tuple[str, dict[str, str]]:
    """Files with three rows that cannot be used, and the captions of the others."""
    folder.mkdir()
    images = list(corpus.references)
    references: dict[str, Any] = dict(corpus.references)
    captions: dict[str, Any] = dict(corpus.a)
    references[images[3]] = []
    references[images[10]] = None
    captions[images[20]] = "a dog\x00"
    for number in range(3):
        write(folder / f"{number}.parquet", images[number::3], {"references": references, "a": captions})
    bad = {images[place] for place in (3, 10, 20)}
    return str(folder), {image: own for image, own in corpus.a.items() if image not in bad}


def test_one_file_of_json_lines_is_many_parts(
    made: tuple[Made, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, _ = made
    rows = [{"image_id": image, "references": own, "a": corpus.a[image]} for image, own in corpus.references.items()]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    find = partitioned.find_parts
    monkeypatch.setattr(partitioned, "find_parts", lambda inputs, **_: find(inputs, part_bytes=700))
    assert len(partitioned.find_parts([str(path)])) > 8
    found = sacrecap.score(str(path), metrics=METRICS, samples=20, engine=stream())
    assert found.to_dict() == local(corpus).to_dict()
    # Rows have their numbers in the file.
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, rows[3]]))
    with pytest.raises(DataError, match=r"rows\.jsonl, row 4 and .*rows\.jsonl, row 81; give each image in one row"):
        sacrecap.score(str(path), metrics="rouge-l", engine=stream())
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"image_id": "x", "a": "a dog"}]))
    with pytest.raises(DataError, match=r"rows\.jsonl: row 81 \(image x\): references has no reference"):
        sacrecap.score(str(path), metrics="rouge-l", engine=stream())


def test_bad_rows(made: tuple[Made, str], tmp_path: Path) -> None:
    corpus, _ = made
    rows, kept = with_bad_rows(corpus, tmp_path / "data")
    with pytest.raises(DataError, match=r"0\.parquet: row 2 \(image image 3\): .*on_bad_row=.skip."):
        sacrecap.score(rows, metrics=METRICS, engine=stream())
    skipped = tmp_path / "skipped.jsonl"
    with pytest.warns(UserWarning, match="3 rows were left out, the first is .*skipped.jsonl has all"):
        found = sacrecap.score(
            rows, metrics=METRICS, samples=20, engine=stream(on_bad_row="skip", skipped=str(skipped))
        )
    references = {image: own for image, own in corpus.references.items() if image in kept}
    whole = sacrecap.score(references, kept, METRICS, bootstrap="poisson", samples=20)
    assert found.to_dict() == whole.to_dict()
    told = [json.loads(line) for line in skipped.read_text().splitlines()]
    places = {(Path(one["file"]).name, one["row"]) for one in told}
    assert places == {("0.parquet", 2), ("1.parquet", 4), ("2.parquet", 7)}
    assert all(one["reason"] for one in told)


@pytest.mark.filterwarnings("ignore:WMD")
def test_a_caption_too_long_for_a_metric_is_a_bad_row(made: tuple[Made, str], tmp_path: Path) -> None:
    """In both passes: no n-gram of it is counted."""
    corpus, _ = made
    images = list(corpus.references)
    references = {**corpus.references, images[3]: ["a dog", "word " * 2_001]}
    captions = {**corpus.a, images[7]: "dog " * 2_001, images[8]: "don't " * 1_001, images[9]: "w" * 9_000}
    captions[images[10]] = "dog " * 2_000  # the most
    write(tmp_path / "rows.parquet", images, {"references": references, "a": captions})
    reason = r"row 4 \(image .*\): a sentence of 2,001 words; METEOR takes up to 2,000 .*on_bad_row=.skip."
    with pytest.raises(DataError, match=reason):
        sacrecap.score(str(tmp_path), metrics="meteor, cider-d", engine=stream())
    with pytest.warns(UserWarning, match="3 rows were left out"):
        found = sacrecap.score(
            str(tmp_path), metrics="meteor, wmd, cider-d", samples=20, engine=stream(on_bad_row="skip")
        )
    kept = [image for place, image in enumerate(images) if place not in (3, 7, 8)]
    whole = sacrecap.score(
        {image: references[image] for image in kept},
        {image: captions[image] for image in kept},
        "meteor, wmd, cider-d",
        bootstrap="poisson",
        samples=20,
    )
    assert found.to_dict() == whole.to_dict()


def test_references_are_needed_if_one_metric_needs_them(tmp_path: Path) -> None:
    write(tmp_path / "rows.parquet", ["1", "2"], {"a": {"1": "a dog", "2": "a cat"}})
    objects = {"1": {"dog": 1}, "2": {"dog": 1}}
    alone = sacrecap.score(str(tmp_path), metrics="chair-i(gold=objects)", engine=stream(), objects=objects)
    assert alone["chair-i(gold=objects)"].value == 0.5
    with pytest.raises(DataError, match="references"):
        sacrecap.score(str(tmp_path), metrics="chair-i(gold=objects), rouge-l", engine=stream(), objects=objects)


def test_a_binary_file_is_told_in_a_line(tmp_path: Path) -> None:
    """Whatever it is taken for, its bytes do not come to the terminal."""
    (tmp_path / "images.tar").write_bytes(b"000.jpg".ljust(100, b"\0") + b"0000644\0" + bytes(range(256)) * 20)
    with pytest.raises(DataError, match=r"images\.tar: no text but binary data, as a tar has; give Parquet"):
        sacrecap.score(str(tmp_path / "images.tar"), metrics="rouge-l", engine="stream")
    (tmp_path / "long.csv").write_text("x" * 5_000 + ",y\n1,2\n")
    with pytest.raises(DataError, match="has the columns x{57}…, y, and not") as caught:
        sacrecap.score(str(tmp_path / "long.csv"), metrics="rouge-l", engine="stream")
    assert len(str(caught.value)) < 400


def test_resuming(made: tuple[Made, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, rows = made
    real, calls = passes.score_captions, []

    def counted(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        real(*arguments)

    monkeypatch.setattr(passes, "score_captions", counted)
    folder = tmp_path / "scores"
    with pytest.raises(KeyboardInterrupt):
        sacrecap.score(rows, metrics=METRICS, samples=20, engine=stream(per_image=str(folder)))
    done = len(list((folder / "_work" / OWN).glob("*.kept")))
    assert done == 5 + 3  # the counts of all; one of the three that are scored has no row
    with pytest.raises(UsageError, match="cut off; go on with resume=True"):
        sacrecap.score(rows, metrics=METRICS, samples=20, engine=stream(per_image=str(folder)))
    again = stream(per_image=str(folder), resume=True)
    others = [({"samples": 30}, "samples 20, here 30"), ({"on_missing": "zero"}, "on missing error, here zero")]
    for changed, told in others:
        with pytest.raises(UsageError, match=rf"cannot resume, .*: {told}"):
            sacrecap.score(rows, metrics=METRICS, **{"samples": 20, **changed}, engine=again)
    before = len(calls)
    found = sacrecap.score(rows, metrics=METRICS, samples=20, engine=stream(per_image=str(folder), resume=True))
    assert len(calls) - before == 5 - 3
    assert found.to_dict() == local(corpus).to_dict()
    assert pq.read_table(folder).num_rows == len(corpus.references)
    assert not (folder / "_work").exists()


def test_a_file_that_is_mended_or_added_costs_itself_alone(
    made: tuple[Made, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, rows = made
    folder = Path(shutil.copytree(rows, tmp_path / "data"))
    whole, later = (folder / "3.parquet").read_bytes(), (folder / "4.parquet").read_bytes()
    broken = bytearray(whole)
    broken[4:200] = bytes(196)  # its footer is whole
    (folder / "3.parquet").write_bytes(broken)
    (folder / "4.parquet").unlink()
    real, scored = passes.score_part, []
    monkeypatch.setattr(passes, "score_part", lambda *given: scored.append(given[-1].file) or real(*given))
    options = {"work": str(tmp_path / "work"), "per_image": str(tmp_path / "scores")}
    with pytest.raises(DataError, match=r"3\.parquet: not a whole parquet file"):
        sacrecap.score(str(folder), metrics="rouge-l", samples=20, engine=stream(**options))
    (folder / "3.parquet").write_bytes(whole)
    (folder / "4.parquet").write_bytes(later)
    scored.clear()
    found = sacrecap.score(str(folder), metrics="rouge-l", samples=20, engine=stream(**options, resume=True))
    assert [Path(file).name for file in scored] == ["3.parquet", "4.parquet"]
    assert found.to_dict() == local(corpus, metrics="rouge-l").to_dict()
    assert pq.read_table(tmp_path / "scores").num_rows == len(corpus.references)


def test_files_that_cannot_be_read_are_left_out(made: tuple[Made, str], tmp_path: Path) -> None:
    """Whether the listing finds it, or whoever reads it: nothing of it is counted, in neither pass."""
    corpus, rows = made
    folder = Path(shutil.copytree(rows, tmp_path / "data"))
    images = pq.read_table(folder / "2.parquet").column("image_id").to_pylist()
    images += pq.read_table(folder / "3.parquet").column("image_id").to_pylist()
    (folder / "2.parquet").write_bytes(b"nothing")
    broken = bytearray((folder / "3.parquet").read_bytes())
    last = pq.ParquetFile(folder / "3.parquet").metadata.row_group(1).column(0).dictionary_page_offset or 0
    broken[last : last + 100] = bytes(100)  # in its second row group
    (folder / "3.parquet").write_bytes(broken)
    with pytest.raises(DataError, match=r"2\.parquet: not a whole"):
        sacrecap.score(str(folder), metrics=METRICS, engine=stream())
    skipped = tmp_path / "skipped.jsonl"
    options = stream(on_bad_file="skip", skipped=str(skipped))
    with pytest.warns(
        UserWarning, match=r"2 files or parts of files cannot be read .* the first is .*2\.parquet: not a"
    ):
        found = sacrecap.score(str(folder), metrics=METRICS, samples=20, engine=options)
    kept = {image: own for image, own in corpus.references.items() if image not in images}
    whole = sacrecap.score(kept, {image: corpus.a[image] for image in kept}, METRICS, bootstrap="poisson", samples=20)
    assert found.to_dict() == whole.to_dict()
    told = [json.loads(line) for line in skipped.read_text().splitlines()]
    assert [(Path(one["file"]).name, one["row"]) for one in told] == [("2.parquet", None), ("3.parquet", None)]


def test_resuming_with_other_document_frequencies(
    made: tuple[Made, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that other frequencies weighed are not mixed with new ones, though their name is the same."""
    _, rows = made
    folder = tmp_path / "scores"

    def scored(references: dict[str, list[str]], *, resume: bool) -> None:
        df = sacrecap.DocumentFrequency.build(references)
        options = stream(per_image=str(folder), resume=resume)
        sacrecap.score(rows, metrics="cider-d", document_frequency=df, interval=None, engine=options)

    monkeypatch.setattr(ImageScores, "finish", cut_off)
    with pytest.raises(KeyboardInterrupt):
        scored({"1": ["w1 w2"], "2": ["w1 w3"]}, resume=False)
    with pytest.raises(UsageError, match=r"cannot resume, .*: needs .*document_frequency"):
        scored({"1": ["w1 w2"], "2": ["w3 w2"]}, resume=True)  # as many words, n-grams and images
    with pytest.raises(KeyboardInterrupt):
        scored({"2": ["w1 w3"], "1": ["w1 w2"]}, resume=True)


def cut_off(*_: object) -> None:
    raise KeyboardInterrupt


def test_options_of_an_engine_that_holds_all_in_memory(made: tuple[Made, str]) -> None:
    corpus, _ = made
    whole = sacrecap.score(corpus.references, corpus.a, "rouge-l", samples=20)
    found = sacrecap.score(corpus.references, corpus.a, "rouge-l", samples=20, engine=EngineOptions("local"))
    assert found.to_dict() == whole.to_dict()


class Seeing(PythonMetric):
    """Notes how many threads a metric on an engine is allowed."""

    family, title, summary, equation, source = "seeing", "Seeing", "It sees.", "0", "a test"
    upper: ClassVar[float | None] = 1.0
    nothing: ClassVar[dict[str, str]] = {}
    seen: ClassVar[set[int]] = set()

    def ready(self, corpus: sacrecap.Corpus, needs: sacrecap.Needs) -> Ready:
        self.seen.add(needs.threads)
        return Ready(corpus._core)

    def statistics(self, corpus: sacrecap.Corpus, ready: Ready) -> list[tuple[float]]:
        return [(0.0,)] * len(corpus.image_ids)

    def formula(self, sums: Any) -> float:
        return float(sums[0])


def test_metrics_have_the_threads_of_the_engine(made: tuple[Made, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of a cluster has one core: metrics that took all of its machine's would be as many times too many."""
    _, rows = made

    class OneOfMany(StreamEngine):
        """Works here, with the threads of a worker of a cluster."""

        def __init__(self, _: int) -> None:
            super().__init__(RayEngine.threads)

    def seen(**given: Any) -> set[int]:
        Seeing.seen.clear()
        sacrecap.score(rows, metrics=[Seeing()], interval=None, engine=stream(), **given)
        return set(Seeing.seen)

    assert seen() == {0}
    assert seen(threads=2) == {2}
    assert seen(needs=sacrecap.Needs(threads=3)) == {3}
    monkeypatch.setattr(calls, "StreamEngine", OneOfMany)
    assert seen() == seen(threads=2) == seen(needs=sacrecap.Needs(threads=3)) == {1}


def test_progress_is_logged_with_its_figures(
    made: tuple[Made, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    corpus, rows = made
    monkeypatch.setattr(progress, "LOG_SECONDS", math.inf)
    with caplog.at_level("INFO", "sacrecap.engines"):
        sacrecap.score(rows, metrics=METRICS, interval=None, engine=stream())
    images = len(corpus.references)
    assert [(one.message, vars(one)["rows"], vars(one)["share"]) for one in caplog.records] == [
        ("counting n-grams", images, 1),
        ("scoring", images, 1),
    ]
    caplog.clear()
    monkeypatch.setattr(progress, "LOG_SECONDS", 0)
    with caplog.at_level("INFO", "sacrecap.engines"):
        sacrecap.score(rows, metrics="rouge-l", interval=None, engine=stream())
    told = [vars(one) for one in caplog.records]
    assert len(told) == 5  # one of the files has no row
    assert all(one["rows_per_second"] > 0 and one["seconds_left"] >= 0 for one in told if one["rows"])


def test_the_command_line(made: tuple[Made, str], tmp_path: Path, run: Runner) -> None:
    corpus, rows = made
    report = tmp_path / "report.html"
    done = run.here(
        "score",
        rows,
        "--engine",
        "stream",
        "--caption-column",
        "a",
        "--metrics",
        METRICS,
        "--samples",
        "20",
        "--format",
        "json",
        "--report",
        str(report),
        "--per-image",
        str(tmp_path / "scores"),
    )
    assert done.status == 0, done.stderr
    assert json.loads(done.stdout) == local(corpus).to_dict()
    assert "CIDEr-D" in report.read_text()
    assert (tmp_path / "scores" / "_manifest.json").exists()


def test_an_address_of_a_cluster() -> None:
    short, long = EngineChoice(engine="ray:head:6380"), EngineChoice(engine="ray(address=head:6380, workers=2)")
    files = CaptionFiles()
    made = [choice.made(files, None, is_one=True) for choice in (short, long)]
    assert [(one.address, one.workers) for one in made if one != "local"] == [("head:6380", None), ("head:6380", 2)]


def test_what_is_left_out_is_written_again(run: Runner) -> None:
    """The file of an earlier run is no input."""
    rows = [{"image_id": "1", "references": ["a dog"], "candidate": "a dog"}, {"image_id": "2", "references": []}]
    (run.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    engine = "stream(on-bad-row=skip, skipped=left-out.jsonl)"
    for _ in range(2):
        done = run.here("score", "rows.jsonl", "--metrics", "rouge-l", "--interval", "none", "--engine", engine)
        assert done.status == 0, done.stderr
        assert json.loads((run.folder / "left-out.jsonl").read_text())["image_id"] == "2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "local(workers=2)"], "--engine local has no parameters, got 'workers'"),
        (["--engine", "stream(workers=2)"], "a parameter must be one of memory, work, keep, resume, on-bad-row"),
        (["--engine", "ray(workers=0)"], "--engine ray: workers is a whole number of at least 1, got '0'"),
        (["--engine", "stream(on-bad-row=zero)"], "--engine stream: on-bad-row is error or skip, got 'zero'"),
        (["--engine", "stream(on-bad-file=no)"], "on-bad-file is error or skip, got 'no'"),
        (["--engine", "stream(work)"], "a parameter is PARAMETER=VALUE, once, got 'work'"),
        (["--engine", "stream(work=a, work=b)"], "a parameter is PARAMETER=VALUE, once, got 'work=b'"),
        (["--engine", "stream(work=a"], "--engine takes NAME or NAME(PARAMETER=VALUE, …), got 'stream(work=a'"),
        (["--engine", "steam"], "--engine must be one of local, stream, ray, got 'steam' (did you mean 'stream'?)"),
        (["--engine", "ray:"], "--engine must be one of local, stream, ray, got 'ray:'"),
        (["--engine", "ray:here(workers=2)"], "--engine must be one of local, stream, ray, got 'ray:here'"),
        (["--engine", "stream:here"], "--engine must be one of local, stream, ray, got 'stream:here'"),
        (["--engine", "stream", "--baseline", "b.json"], "--baseline needs all images in memory"),
        (["--engine", "stream", "--explain", "1"], "--explain needs all images in memory"),
        (["--engine", "stream", "--image-ids", "stem"], "--image-ids is for references and candidates in"),
        (["--engine", "stream", "--id-column", "a", "--id-column", "b"], "--id-column may be repeated with"),
        (["--engine", "stream(memory=many)"], "--engine stream: memory is a size such as 500M or 2G, got 'many'"),
        (["--engine", "stream(resume=yes)"], "resume in --engine goes on in the folder of --per-image"),
        (["--engine", "stream", "--id-column", "nothing"], "and not nothing; name others by --id-column"),
    ],
)
def test_options_that_cannot_be(made: tuple[Made, str], arguments: list[str], message: str, run: Runner) -> None:
    done = run.here("score", made[1], "--caption-column", "a", *arguments)
    assert (done.status, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize("cell", [["a dog", "a cat"], "['a dog', 'a cat']"], ids=["list", "list as text"])
def test_a_row_with_several_candidates_is_a_bad_row(cell: object, tmp_path: Path) -> None:
    cells = [["a dog"], cell, ["a cat"]] if isinstance(cell, list) else ["a dog", cell, "a cat"]
    rows = {"image_id": ["1", "2", "3"], "references": [["a dog"]] * 3, "a": cells}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"row 2 \(image 2\): has 2 candidates; keep one for each image"):
        sacrecap.score(str(tmp_path), metrics="rouge-l", engine=stream())
    with pytest.warns(SacrecapWarning, match="1 rows were left out"):
        found = sacrecap.score(str(tmp_path), metrics="rouge-l", interval=None, engine=stream(on_bad_row="skip"))
    rest = sacrecap.score({"1": ["a dog"], "3": ["a dog"]}, {"1": "a dog", "3": "a cat"}, "rouge-l", interval=None)
    assert found["rouge-l"].value == rest["rouge-l"].value


def test_how_intervals_would_be_made_is_no_error_where_there_are_none() -> None:
    assert calls._drawn("stream", Resampling(None, "jackknife")).bootstrap == "poisson"
    with pytest.raises(UsageError, match="the interval method jackknife needs the statistics of all images"):
        calls._drawn("stream", Resampling(0.95, "jackknife"))


@pytest.mark.parametrize(
    ("text", "size"), [("7", 7), ("1K", 2**10), ("512m", 2**29), ("2G", 2**31), ("3GiB", 3 * 2**30), ("1TB", 2**40)]
)
def test_sizes_are_powers_of_two(text: str, size: int) -> None:
    assert byte_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "1.5G", "one"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the option says what it takes
        byte_size(text)
