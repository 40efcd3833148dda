"""The stream gives the numbers of captions that are all in memory, to the bit, however the input is cut."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import sacrecap
from runner import Runner
from sacrecap.engines import EngineOptions
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import PythonMetric
from sacrecap.metrics.base import Ready

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sacrecap._core import Captions
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs

    Columns = Mapping[str, Mapping[str, object]]

WORDS = [f"w{number}" for number in range(120)] + ["dog", "dogs", "run", "running", "a", "the", "red", "bus"]


class Made:
    """A random corpus with two systems of captions and two of caption sets."""

    def __init__(self, seed: int, images: int, *, single: bool) -> None:
        self._random = random.Random(seed)
        choose = self._random
        self.references = {
            f"image {number}": [self._caption() for _ in range(choose.randint(1 if single else 2, 5))]
            for number in range(images)
        }
        self.a = {image: choose.choice([*own, self._caption()]) for image, own in self.references.items()}
        self.b = {image: choose.choice([own[0], self._caption()]) for image, own in self.references.items()}
        self.sets = {image: [self._caption() for _ in range(choose.randint(2, 9))] for image in self.references}
        self.others = {image: [choose.choice(own) for _ in range(4)] for image, own in self.references.items()}

    def _caption(self) -> str:
        most = self._random.choice([8, 40, len(WORDS)])
        return " ".join(self._random.choice(WORDS[:most]) for _ in range(self._random.randint(1, 9)))

    def write(self, folder: Path, *, files: int, row_group: int) -> str:
        """The corpus in files, in another order; some have no row."""
        columns = {"references": self.references, "a": self.a, "b": self.b, "sets": self.sets, "others": self.others}
        images = list(self.references)
        self._random.shuffle(images)
        folder.mkdir()
        for number in range(files):
            own = images[number::files] if number else []
            own += images[::files] if number == 1 else []
            write(folder / f"{number}.parquet", own, columns, row_group)
        return str(folder)


def write(path: Path, images: Sequence[str], columns: Columns, row_group: int = 100) -> None:
    kinds = {"references": pa.list_(pa.string()), "sets": pa.list_(pa.string()), "others": pa.list_(pa.string())}
    table = pa.table(
        {
            "image_id": pa.array(images, pa.string()),
            **{
                name: pa.array([own[image] for image in images], kinds.get(name, pa.string()))
                for name, own in columns.items()
            },
        }
    )
    pq.write_table(table, path, row_group_size=row_group)


def two_inputs(corpus: Made, folder: Path) -> tuple[str, str]:
    """References in a row per caption, over several files, and candidates in another order."""
    rows = [{"image_id": image, "caption": one} for image, own in corpus.references.items() for one in own]
    for number in range(3):
        lines = "".join(json.dumps(row) + "\n" for row in rows[number::3])
        (folder / f"references-{number}.jsonl").write_text(lines)
    write(folder / "a.parquet", list(corpus.a)[::-1], {"candidate": corpus.a})
    return str(folder / "references-*.jsonl"), str(folder / "a.parquet")


@pytest.fixture(scope="module", params=[(1, 60, False, 3, 7), (2, 90, True, 6, 60)], ids=["small", "single"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, str]:
    seed, images, single, files, row_group = request.param
    corpus = Made(seed, images, single=single)
    return corpus, corpus.write(tmp_path_factory.mktemp("rows") / "data", files=files, row_group=row_group)


def stream(*columns: str, references: str | None = None) -> EngineOptions:
    return EngineOptions("stream", caption_columns=columns, references_column=references)


@pytest.mark.filterwarnings("ignore:.*of the content words and labels have a vector")
@pytest.mark.parametrize(
    "metrics",
    [
        "coco",
        "consensus",
        "bleu-4, cider-d(sigma=5), cider-paper(n=2)",
        "sacrecap-1, wmd",
        "fluency",
        "fluency(n=2), cider-d, combine(fluency(own=yes), rouge-l), fluency(n=4)",
    ],
)
def test_scores_are_those_of_all_in_memory(made: tuple[Made, str], metrics: str) -> None:
    corpus, folder = made
    whole = sacrecap.score(corpus.references, corpus.a, metrics, bootstrap="poisson", samples=40)
    found = sacrecap.score(folder, metrics=metrics, samples=40, engine=stream("a"))
    assert found.to_dict() == whole.to_dict()
    assert str(found) == str(whole)


RESULTS = [{"image_id": 1, "caption": "a dog runs"}, {"image_id": "007", "caption": "two men, a board"}]
SENTENCES = {"1": ["a dog runs on sand", "a dog"], "007": ["two men play chess", "men at a board"]}
PAIRS = [(image, one) for image, own in SENTENCES.items() for one in own]
DESCRIBED = {
    "coco": {"images": [{"id": 1}], "annotations": [{"image_id": image, "caption": one} for image, one in PAIRS]},
    "karpathy": {
        "images": [
            {"filename": image, "split": "test", "sentences": [{"raw": one} for one in own]}
            for image, own in SENTENCES.items()
        ]
    },
    "mapping": SENTENCES,
    "gts": {image: [{"caption": one} for one in own] for image, own in SENTENCES.items()},
    "lavis": [{"image": image, "caption": own} for image, own in SENTENCES.items()],
    "wrapped": {"model": "m", "results": [{"id": image, "references": own} for image, own in SENTENCES.items()]},
    "flickr": "".join(f"{image}#{n}\t{one}\n" for n, (image, one) in enumerate(PAIRS)),
    "bars": "image_name| comment_number| comment\n" + "".join(f"{image}| 0| {one}\n" for image, one in PAIRS),
    "lists in text": "index\tanswer\n" + "".join(f"{image}\t{own}\n" for image, own in SENTENCES.items()),
    "lines": "".join(json.dumps({"video_id": image, "captions": own}) + "\n" for image, own in SENTENCES.items()),
}


@pytest.mark.filterwarnings("ignore:Intervals of 2 images")
@pytest.mark.parametrize("format", DESCRIBED)
def test_the_same_files_are_read_as_in_memory(format: str, tmp_path: Path) -> None:
    """Whatever the format, and whether it is read in pieces or whole; `007` stays `007`."""
    references, candidates = tmp_path / "references", tmp_path / "results.json"
    content = DESCRIBED[format]
    references.write_text(content if isinstance(content, str) else json.dumps(content))
    candidates.write_text(json.dumps(RESULTS))
    whole = sacrecap.score(references, candidates, "rouge-l, cider-d", bootstrap="poisson", samples=20)
    found = sacrecap.score(references, candidates, "rouge-l, cider-d", samples=20, engine="stream")
    assert found.to_dict() == whole.to_dict()
    assert sorted(whole.image_ids) == ["007", "1"]


@pytest.mark.filterwarnings("ignore:Intervals of", "ignore:.*looks like a candidate file")
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "jsonl", "csv.gz"])
def test_folders_and_patterns_are_read_as_in_memory(suffix: str, tmp_path: Path, run: Runner) -> None:
    """The same files in the same order, of folders inside and of any name, and no others; an empty one counts."""
    corpus = Made(3, 40, single=True)
    folder = tmp_path / "rows"
    (folder / "more" / "_temporary").mkdir(parents=True)
    images = list(corpus.references)
    for number in range(4):
        table = pa.table(
            {
                "image_id": images[number::4],
                "references": [corpus.references[image][:1] for image in images[number::4]],
                "candidate": [corpus.a[image] for image in images[number::4]],
            }
        )
        place = folder / "more" if number == 3 else folder
        write_as(table, place / f"p{number:04}.{suffix}")
    (folder / "README.md").write_text("x")
    (folder / "more" / "_temporary" / f"p.{suffix}").write_text("x")
    if suffix == "jsonl":
        (folder / "none.jsonl").write_text("")
    how: Any = {"metrics": "rouge-l, cider-d", "samples": 20}
    expected = sacrecap.score(
        {image: own[:1] for image, own in corpus.references.items()}, corpus.a, bootstrap="poisson", **how
    ).to_dict()
    for given in (str(folder), f"{folder}/**/p0*.{suffix}"):
        assert sacrecap.score(given, bootstrap="poisson", **how).to_dict() == expected
        assert sacrecap.score(given, engine="stream", **how).to_dict() == expected
    common = ("score", given, "--metrics", "rouge-l,cider-d", "--samples", "20", "--format", "json")
    assert json.loads(run.here(*common, "--engine", "stream").stdout) == expected
    found = json.loads(run.here(*common).stdout)
    assert (found["scores"], found["signatures"]) == (expected["scores"], expected["signatures"])
    described, own = two_inputs(corpus, tmp_path)
    whole = sacrecap.score(described, own, bootstrap="poisson", **how)
    assert whole.to_dict() == sacrecap.score(described, own, engine="stream", **how).to_dict()


def write_as(table: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        lines = [f"{row['image_id']},{row['references'][0]},{row['candidate']}\n" for row in table.to_pylist()]
        path.write_bytes(gzip.compress("".join(["image_id,references,candidate\n", *lines]).encode()))


def test_what_is_wrong_with_one_of_several_files_names_it(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text('{"image_id": 1, "references": ["a dog"], "candidate": "a dog"}\n')
    (tmp_path / "2.jsonl").write_text('{"image_id": 2, "references": ["a dog"], "candidate": 5}\n' * 2)
    for engine in ("local", "stream"):
        with pytest.raises(DataError, match=r"2.jsonl: row 1 \(image 2\): candidate is the number 5"):
            sacrecap.score(str(tmp_path), metrics="rouge-l", engine=engine)  # type: ignore[arg-type]
    (tmp_path / "2.jsonl").write_text("[1, 2]\n")
    with pytest.raises(DataError, match=r"2.jsonl: has no rows with columns"):
        sacrecap.score(str(tmp_path), metrics="rouge-l")
    (tmp_path / "2.csv").write_text("image_id,references,candidate\n")
    for engine in ("local", "stream"):
        with pytest.raises(DataError, match=r"several formats, 2 of jsonl and 1 of csv; choose by a pattern"):
            sacrecap.score(str(tmp_path), metrics="rouge-l", engine=engine)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="formats of several files are recognised; leave the format out"):
        sacrecap.data.read_candidates(f"{tmp_path}/*.jsonl", format="jsonl")


def test_a_file_that_is_too_large_to_be_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrecap.data.partitioned import whole

    monkeypatch.setattr(whole, "WHOLE_BYTES", 10)
    path = tmp_path / "references.json"
    path.write_text(json.dumps(DESCRIBED["coco"]))
    with pytest.raises(DataError, match="references.json: is read whole, .*write it as JSON lines"):
        sacrecap.score(path, path, "rouge-l", engine="stream")


def test_comparisons_are_those_of_all_in_memory(made: tuple[Made, str]) -> None:
    corpus, folder = made
    systems = {"a": corpus.a, "b": corpus.b}
    whole = sacrecap.compare(corpus.references, systems, test="bootstrap", bootstrap="poisson", samples=60)
    found = sacrecap.compare(folder, samples=60, engine=stream("a", "b"))
    assert found.to_dict() == whole.to_dict()


@pytest.mark.filterwarnings("ignore:people are scored on")
@pytest.mark.parametrize("options", [{}, {"top": 3}, {"accuracy": "cider-paper"}, {"interval": None}], ids=str)
def test_caption_sets_are_those_of_all_in_memory(made: tuple[Made, str], options: dict[str, object]) -> None:
    corpus, folder = made
    metrics = "self-cider, self-cider(kernel=cider-d), lsa, mbleu-4, distinct"
    sets = {"sets": corpus.sets, "others": corpus.others}
    whole = sacrecap.diversity(
        sets, corpus.references, metrics, bootstrap="poisson", samples=30, test="bootstrap", **options
    )
    engine = stream("sets", "others", references="references")
    found = sacrecap.diversity(folder, metrics=metrics, samples=30, engine=engine, **options)
    assert found.to_dict() == whole.to_dict()
    assert str(found) == str(whole)


def test_caption_sets_without_references(made: tuple[Made, str]) -> None:
    corpus, folder = made
    whole = sacrecap.diversity({"sets": corpus.sets}, bootstrap="poisson", samples=30)
    found = sacrecap.diversity(folder, samples=30, engine=stream("sets"))
    assert found.to_dict() == whole.to_dict()


def test_the_sample_has_the_captions_and_scores_of_its_images(made: tuple[Made, str]) -> None:
    corpus, folder = made
    whole = sacrecap.score(corpus.references, corpus.a, "rouge-l, cider-d", interval=None)
    found = sacrecap.score(folder, metrics="rouge-l, cider-d", interval=None, engine=stream("a"))
    assert found.images == len(corpus.references) == len(found.image_ids)
    places = {image: place for place, image in enumerate(whole.image_ids)}
    for key, score in found.items():
        assert score.per_image.tolist() == [whole[key].per_image[places[image]] for image in found.image_ids]
    image = found.image_ids[0]
    assert found.corpus.captions(image) == (corpus.a[image], corpus.references[image])


def test_counts_that_do_not_fit_into_memory(made: tuple[Made, str]) -> None:
    """They go to disk, and the scores are the same."""
    corpus, folder = made
    whole = sacrecap.score(corpus.references, corpus.a, "cider-d", interval=None)
    for memory in (64, 20_000):
        options = EngineOptions("stream", caption_columns=("a",), memory=memory)
        found = sacrecap.score(folder, metrics="cider-d", interval=None, engine=options)
        assert found.to_dict() == whole.to_dict()


class CommonWords(PythonMetric):
    """The share of a caption's words that are in a reference of any image. It learns from all references together."""

    family: ClassVar[str] = "common-words"
    title: ClassVar[str] = "Common-words"
    summary: ClassVar[str] = "The candidate's words are those of the references of any image."
    equation: ClassVar[str] = "|c ∩ W| / |c|"
    source: ClassVar[str] = "this test"
    upper: ClassVar[float | None] = 1.0
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0"}
    trained_on_references: ClassVar[bool] = True

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        if corpus.whole is not None:
            words = corpus.whole.learnt(self)
        else:
            words = {word for image in corpus.image_ids for one in corpus.captions(image)[1] for word in one.split()}
        return Ready(corpus._core, own=words)

    def statistics(self, corpus: Corpus, ready: Ready) -> list[tuple[float, float]]:
        captions = [corpus.texts(image)[0][0].split() for image in corpus.image_ids]
        return [(sum(word in ready.own for word in own) / max(len(own), 1), 1.0) for own in captions]


class InParts(CommonWords):
    """The same, which can learn part by part."""

    family: ClassVar[str] = "in-parts"

    def learner(self, needs: Needs, *, memory: int) -> Vocabulary:
        return Vocabulary()


class Vocabulary:
    """The words of references."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def add(self, references: Captions, encoded: object, threads: int) -> None:
        for image in references.image_ids:
            self._words |= {word for one in references.captions(image) for word in one.split()}

    def merge(self, other: Vocabulary) -> None:
        self._words |= other._words

    def finish(self) -> set[str]:
        return self._words


def test_a_metric_from_elsewhere_that_learns_part_by_part(made: tuple[Made, str]) -> None:
    corpus, folder = made
    candidates = {image: f"{caption} unheard" for image, caption in corpus.a.items()}
    rows = Path(folder).parent / "unheard"
    rows.mkdir(exist_ok=True)
    write(rows / "all.parquet", list(candidates), {"references": corpus.references, "a": candidates}, row_group=20)
    whole = sacrecap.score(corpus.references, candidates, [InParts()], bootstrap="poisson", samples=40)
    found = sacrecap.score(str(rows), metrics=[InParts()], samples=40, engine=stream("a"))
    assert found.to_dict() == whole.to_dict()
    assert 0.5 < found["in-parts"].value < 1


def test_a_language_model_beyond_the_memory_is_refused(made: tuple[Made, str]) -> None:
    options = EngineOptions("stream", caption_columns=("a",), memory=1_000)
    message = "the language model of the references takes more than 1 MiB of memory; grant more memory"
    with pytest.raises(DataError, match=message):
        sacrecap.score(made[1], metrics="fluency, fluency(n=2)", engine=options)


def test_one_image_leaves_fluency_nothing_to_learn_from(tmp_path: Path) -> None:
    write(tmp_path / "one.parquet", ["1"], {"references": {"1": ["a dog"]}, "a": {"1": "a dog"}})
    with pytest.warns(sacrecap.SacrecapWarning, match="no other image's references"):
        found = sacrecap.score(str(tmp_path), metrics="fluency", interval=None, engine=stream("a"))
    assert found["fluency"].value == 0
    # Parts of one image each are no such case.
    write(tmp_path / "two.parquet", ["2"], {"references": {"2": ["a cat"]}, "a": {"2": "a dog"}})
    found = sacrecap.score(str(tmp_path), metrics="fluency", interval=None, engine=stream("a"))
    assert found["fluency"].value > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": [CommonWords()]}, "common-words learns from the references of all images together"),
        ({"tokenizer": "ptb-stream"}, "ptb-stream reads all captions as one text"),
        ({"bootstrap": "multinomial"}, "the bootstrap multinomial needs the statistics of all images"),
        ({"interval_method": "jackknife"}, "the interval method jackknife needs"),
        ({"references": {"1": ["a"]}}, "an engine reads files; give the path of a file, .* not a dict"),
    ],
)
def test_what_needs_all_images_in_memory_is_refused(
    made: tuple[Made, str], options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        sacrecap.score(**{"references": made[1], "metrics": "rouge-l", "engine": stream("a"), **options})


def test_permutation_tests_are_refused(made: tuple[Made, str]) -> None:
    with pytest.raises(UsageError, match="the test permutation needs the scores of all images in memory"):
        sacrecap.compare(made[1], test="permutation", engine=stream("a", "b"))


def test_no_row_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "empty.parquet", [], {"references": {}, "candidate": {}})
    with pytest.raises(DataError, match=r"empty\.parquet: no image to score"):
        sacrecap.score(str(tmp_path), engine="stream")


def test_options_that_contradict_each_other() -> None:
    for given in ({"name": "spark"}, {"on_bad_row": "drop"}, {"workers": 0}, {"memory": 0}, {"resume": True}):
        with pytest.raises(UsageError):
            EngineOptions(**{"name": "stream", **given})
