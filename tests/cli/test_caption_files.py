"""Options that say how files of captions are read, in the commands that read some."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import run, write
from runner import Runner

__all__ = ["run", "write"]

Write = Callable[[str, object], str]

REFERENCES = {
    "COCO_7.jpg": ["a man on a horse", "a person riding a horse"],
    "COCO_8.jpg": ["bread is cut", "cut bread"],
}
CANDIDATES = {"7": "a man rides a horse", "8": "a woman cuts bread"}
OPTIONS = ["--metrics", "rouge-l", "--interval", "none", "--format", "json"]


@pytest.fixture
def table(write: Write) -> str:
    """References and two systems' captions in one table."""
    rows = [
        f"{image},{number},{','.join(REFERENCES[image])},{CANDIDATES[number]},x"
        for image, number in zip(REFERENCES, CANDIDATES, strict=True)
    ]
    return write("table.csv", "\n".join(["photo,nr,human 1,human 2,model,other", *rows]) + "\n")


def score(printed: str) -> float:
    return float(json.loads(printed)["scores"]["rouge-l"])


@pytest.fixture
def expected(run: Runner, write: Write) -> float:
    """The score of the same captions as plain files."""
    references = {number: REFERENCES[image] for image, number in zip(REFERENCES, CANDIDATES, strict=True)}
    return score(run.ok("score", write("r.json", references), write("c.json", CANDIDATES), *OPTIONS))


def test_one_file_of_both(run: Runner, write: Write, table: str, expected: float) -> None:
    columns = ["--id-column", "photo", "--references-column", "human *", "--caption-column", "model"]
    assert score(run.ok("score", table, *columns, *OPTIONS)) == expected
    with open(run.folder / table, "rb") as file:
        assert score(run.ok("score", "-", *columns, *OPTIONS, stdin=file.read())) == expected
    lines = [
        json.dumps({"id": number, "prediction": CANDIDATES[number], "references": REFERENCES[image]}) + "\n"
        for image, number in zip(REFERENCES, CANDIDATES, strict=True)
    ]
    assert score(run.ok("score", write("p.jsonl", "".join(lines)), *OPTIONS)) == expected
    message = run.refused("score", table, "--id-column", "photo", "--caption-column", "model")
    assert message.startswith("table.csv: is the only file, but not known to hold references and candidates both; ")


def test_columns_of_two_files(run: Runner, write: Write, table: str, expected: float) -> None:
    other = write("system.csv", "nr,text,caption\n" + "".join(f"{n},{c},no\n" for n, c in CANDIDATES.items()))
    columns = ["--id-column", "nr", "--references-column", "human 1", "--references-column", "human 2"]
    assert score(run.ok("score", table, other, *columns, "--caption-column", "text", *OPTIONS)) == expected
    plain = write("c.json", CANDIDATES)
    assert score(run.ok("score", table, plain, *columns, *OPTIONS)) == expected, "a file without them is read as before"
    message = run.refused("score", "r.json", plain, "--caption-column", "text", *OPTIONS)
    assert message.startswith(
        "c.json: has the columns 7, 8, and not text; name others by --id-column and --caption-column"
    )
    named = [*columns, "--caption-column", "text", "--caption-column", "model"]
    compared = run.ok("compare", table, other, f"b={table}", *named, *OPTIONS)
    systems = json.loads(compared)["systems"]
    assert {name: system["scores"]["rouge-l"] for name, system in systems.items()} == dict.fromkeys(systems, expected)


def test_ids_that_are_spelt_differently(run: Runner, write: Write, expected: float) -> None:
    references, candidates = write("refs.json", REFERENCES), write("c.json", CANDIDATES)
    ended = run.here("score", references, candidates, *OPTIONS)
    assert (ended.status, score(ended.stdout)) == (0, expected)
    assert "found, ids: 2 of 2 candidates (100 %) were matched by the number of their image ids, as no" in ended.stderr
    message = run.refused("score", references, write("more.json", {**CANDIDATES, "9": "x"}))
    assert message.startswith("more.json: none of its 3 images is in refs.json")
    assert message.endswith("; they match with --image-ids number"), "an image that is not there makes it unsure"
    assert score(run.ok("score", references, candidates, "--image-ids", "number", *OPTIONS)) == expected
    stems = write("stems.json", {"x/COCO_7": CANDIDATES["7"], "x/COCO_8": CANDIDATES["8"]})
    assert score(run.ok("score", references, stems, "--image-ids", "stem", *OPTIONS)) == expected


def test_extra_and_double_candidates(run: Runner, write: Write, expected: float) -> None:
    rows = [{"image_id": image, "caption": caption} for image, caption in CANDIDATES.items()]
    extra = write("extra.json", [*rows, {"image_id": "9", "caption": "x"}])
    assert expected > 0
    assert "choose --on-extra skip" in run.refused("score", "r.json", extra)
    assert score(run.ok("score", "r.json", extra, "--on-extra", "skip", *OPTIONS)) == expected
    message = run.refused("score", "r.json", write("foreign.json", {"9": "x"}), "--on-extra", "skip")
    assert message.startswith("foreign.json: none of its 1 images is in r.json"), "nothing would be left"
    double = write("double.json", [*rows, {"image_id": "7", "caption": "x"}])
    assert run.refused("score", "r.json", double).endswith("or choose --on-duplicate first or last")
    assert score(run.ok("score", "r.json", double, "--on-duplicate", "first", *OPTIONS)) == expected
    skipped = json.loads(run.ok("score", "r.json", double, "--on-duplicate", "skip", *OPTIONS))
    assert skipped["images"] == 1
    double = write("double.json", [{"image_id": "7", "caption": "x"}, *rows])
    assert score(run.ok("score", "r.json", double, "--on-duplicate", "last", *OPTIONS)) == expected


def test_other_commands_read_the_same(run: Runner, table: str, write: Write) -> None:
    columns = ["--id-column", "nr", "--caption-column", "human *"]
    run.ok("df", "build", table, *columns, "-o", "a.df")
    assert json.loads(run.ok("df", "info", "a.df", "--format", "json"))["images"] == 2
    ranked = run.ok("score", table, *columns, "--rank", "7", "--metrics", "rouge-l", "--format", "json")
    assert "a man on a horse" in ranked
    graphs = run.ok("graph", table, *columns).splitlines()
    assert [json.loads(line)["image_id"] for line in graphs] == ["7", "7", "8", "8"]
    sets = run.ok(
        "diversity",
        table,
        "--references",
        table,
        "--id-column",
        "nr",
        "--references-column",
        "human *",
        "--caption-column",
        "human *",
        "--interval",
        "none",
        "--format",
        "json",
    )
    assert json.loads(sets)["systems"]["table"]["images"] == 2


def test_two_text_files(run: Runner, write: Write, expected: float) -> None:
    references = write("r.txt", "".join("\t".join(captions) + "\n" for captions in REFERENCES.values()))
    candidates = write("c.txt", "".join(caption + "\n" for caption in CANDIDATES.values()))
    lines = ["--reference-format", "text", "--candidate-format", "text"]
    assert score(run.ok("score", references, candidates, *lines, *OPTIONS)) == expected
    message = run.refused("score", write("r.json", REFERENCES), candidates)
    assert "c.txt: found a text that begins" in message
    assert message.endswith("; where each line is a caption, choose the format text")


def test_missing_captions_are_one_line(run: Runner, write: Write) -> None:
    candidates = write("c.csv", "image_id,caption\n1,a\n2,nan\n")
    ended = run.here("score", write("r.json", {"1": ["a"], "2": ["b"]}), candidates, *OPTIONS)
    assert (ended.status, score(ended.stdout)) == (0, 0.5)
    assert "sacrecap: found, empty: 1 of 2 candidates (50 %) are empty or missing (image 2); " in ended.stderr


# Several files, and groups of images

DOMAINS = ["near", "in", "in", None, "near", "in"]


@pytest.fixture
def nocaps(write: Write) -> tuple[str, str]:
    """References of COCO's form with a domain of each image, and captions."""
    words = ["dog", "cat", "bus", "tree", "boat", "bird"]
    images = [{"id": n, "file_name": f"{n}.jpg", **({"domain": one} if one else {})} for n, one in enumerate(DOMAINS)]
    rows = [
        {"image_id": n, "id": n, "caption": f"a {one} {verb} here"}
        for n, one in enumerate(words)
        for verb in ("is", "was")
    ]
    captions = {str(n): f"a {one} is there" if n % 2 else f"the {one}" for n, one in enumerate(words)}
    return write("nocaps.json", {"images": images, "annotations": rows}), write("system.json", captions)


def test_scores_by_groups(run: Runner, nocaps: tuple[str, str]) -> None:
    chosen = ["--metrics", "rouge-l,cider-d", "--by", "domain", "--format"]
    document = json.loads(run.here("score", *nocaps, *chosen, "json", "--per-image", "each.jsonl").stdout)
    each = [json.loads(line) for line in (run.folder / "each.jsonl").read_text().splitlines()]
    assert document["by"] == "domain"
    assert {name: group["images"] for name, group in document["groups"].items()} == {"in": 3, "near": 2}
    for name, group in document["groups"].items():
        for metric, value in group["scores"].items():
            own = [row[metric] for row, domain in zip(each, DOMAINS, strict=True) if domain == name]
            assert value == pytest.approx(sum(own) / len(own)), "each image keeps its score"
            assert group["intervals"][metric][0] <= value <= group["intervals"][metric][1]
    assert "1 images have no domain, and are in no group." in document["notes"]
    table = run.here("score", *nocaps, *chosen, "table").stdout
    assert "by domain\n" in table
    assert "\nnear          2   " in table
    rows = run.here("score", *nocaps, *chosen, "csv").stdout.splitlines()
    assert [row.rpartition(",")[2] for row in rows] == ["domain", "", "", "in", "in", "near", "near"]
    run.here("score", *nocaps, *chosen, "json", "--report", "page.html")
    assert "Scores by domain" in (run.folder / "page.html").read_text()
    compared = run.here("compare", nocaps[0], f"a={nocaps[1]}", f"b={nocaps[1]}", *chosen, "json", "-q").stdout
    systems = json.loads(compared)["systems"]
    assert {name: system["groups"] for name, system in systems.items()} == dict.fromkeys("ab", document["groups"])
    assert "no file has a column of that name" in run.refused("score", *nocaps, "--by", "domains")


def test_groups_of_images_that_the_file_of_candidates_calls_otherwise(
    run: Runner, nocaps: tuple[str, str], write: Write
) -> None:
    chosen = ["--metrics", "rouge-l", "--interval", "none", "--format", "json", "-q", "--by"]
    expected = json.loads(run.here("score", *nocaps, *chosen, "domain").stdout)["groups"]
    captions = json.loads((run.folder / nocaps[1]).read_text())
    rows = [
        {"id": f"row {image}", "file_name": f"data/{int(image):06}.jpg", "caption": text, "area": DOMAINS[int(image)]}
        for image, text in captions.items()
    ]
    numbered = [{**row, "file_name": f"row-{n}", "id": n} for n, row in enumerate(rows)]
    named = [{key: value for key, value in row.items() if key != "id"} for row in rows]
    for own in (numbered, named):
        path = write("rows.json", own)
        assert json.loads(run.here("score", nocaps[0], path, *chosen, "area").stdout)["groups"] == expected
        systems = json.loads(run.here("compare", nocaps[0], f"a={path}", f"b={nocaps[1]}", *chosen, "area").stdout)
        assert systems["systems"]["a"]["groups"] == expected


def test_groups_of_images_whose_ids_are_cut(run: Runner, nocaps: tuple[str, str], write: Write) -> None:
    chosen = ["--metrics", "rouge-l", "--interval", "none", "--format", "json", "-q", "--by"]
    expected = json.loads(run.here("score", *nocaps, *chosen, "domain").stdout)["groups"]
    captions = json.loads((run.folder / nocaps[1]).read_text())
    rows = [
        {
            "image_id": f"{'train' if text < 'b' else 'val'}_{int(image):06}.jpg",
            "caption": text,
            "area": DOMAINS[int(image)],
        }
        for image, text in captions.items()
    ]
    ended = run.here("score", nocaps[0], write("rows.json", rows), "--image-ids", "number", *chosen, "area")
    assert json.loads(ended.stdout)["groups"] == expected


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_references_of_several_files(run: Runner, write: Write, engine: str) -> None:
    first, other = {"a": ["a dog runs"], "b": ["a cat sits", "a cat"]}, {"c": ["a bus"], "a": ["the dog is fast"]}
    candidates = write("c.json", {"a": "a dog is fast", "b": "a cat", "c": "the bus"})
    united = write("all.json", {"a": [*first["a"], *other["a"]], "b": first["b"], "c": other["c"]})
    chosen = [*OPTIONS, "--engine", engine, "-q"]
    added = [write("first.json", first), candidates, "--add-references", write("other.json", other)]
    assert score(run.here("score", *added, *chosen).stdout) == score(
        run.here("score", united, candidates, *chosen).stdout
    )
    assert "name that, too" in run.refused("score", united, "--add-references", "other.json")


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_folder_of_systems(run: Runner, write: Write, engine: str) -> None:
    references = write("r.json", {"a": ["a dog runs", "dogs run"], "b": ["a cat sits", "a cat"]})
    (run.folder / "systems").mkdir()
    for name in ("one", "two"):
        write(f"systems/{name}.json", {"a": f"{name} dog", "b": "a cat"})
    write("systems/notes.txt", "no captions")
    chosen = [*OPTIONS[:2], "--format", "json", "--engine", engine, "-q"]
    document = json.loads(run.here("compare", references, "systems", *chosen).stdout)
    assert [*document["systems"]] == ["one", "two"]
    told = run.here("compare", references, "systems", *chosen[:-1]).stderr
    assert "systems: not read: notes.txt; names of files of captions end in .json" in told
    (run.folder / "systems" / "two.json").unlink()
    assert run.refused("compare", references, "systems").startswith("systems: has one file of captions, where systems")


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_an_encoding_is_of_text_alone(engine: str, tmp_path: Path, run: Runner) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"image_id": ["1"], "captions": [["ein Café", "x"]]}), tmp_path / "r.parquet")
    (tmp_path / "c.csv").write_bytes("image_id,caption\n1,ein Café\n".encode("cp1252"))
    how = [text for part in ("reference", "candidate") for text in (f"--{part}-format", "auto(encoding=cp1252)")]
    files = [str(tmp_path / "r.parquet"), str(tmp_path / "c.csv"), *how]
    done = run.here(
        "score", *files, "--metrics", "rouge-l", "--format", "json", "--interval", "none", "--engine", engine
    )
    assert json.loads(done.stdout)["scores"] == {"rouge-l": 1}, done.stderr


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_an_encoding_that_there_is_not_is_an_error_of_utf8_too(engine: str, write: Write, run: Runner) -> None:
    files = write("r.json", {"1": ["a dog", "the dog"]}), write("c.json", {"1": "a dog"})
    how = [text for part in ("reference", "candidate") for text in (f"--{part}-format", "auto(encoding=utf-99)")]
    refused = run.refused("score", *files, "--metrics", "rouge-l", *how, "--engine", engine)
    assert "no encoding is called 'utf-99'; Python knows utf-16, cp1252" in refused


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_of_one_file_one_format_is_enough(engine: str, write: Write, run: Runner) -> None:
    rows = "image_id,references,caption\n1,ein Café,ein Café\n2,a dog,a dog\n"
    both = write("both.csv", rows.encode("cp1252"))
    chosen = [*OPTIONS, "--engine", engine, "--reference-format", "auto(encoding=cp1252)"]
    assert score(run.here("score", both, *chosen).stdout) == 1
    sets = write("sets.csv", "image_id,caption\n1,ein Café\n1,ein Café\n2,a dog\n2,a dog\n".encode("cp1252"))
    chosen = ["--metrics", "distinct", *OPTIONS[2:], "--set-format", "csv(encoding=cp1252)"]
    (system,) = json.loads(run.here("diversity", sets, *chosen).stdout)["systems"].values()
    assert system["distinct"] == 0.5


def test_each_kind_of_file_has_its_encoding(write: Write, run: Runner) -> None:
    references = write("r.json", {"1": ["ein Café"]})
    candidates = write("c.csv", "image_id,caption\n1,ein Café\n".encode("cp1252"))
    command = ["score", references, candidates, "--metrics", "rouge-l", "--interval", "none", "--format", "json", "-q"]
    written = ["--candidate-format", "csv(encoding=cp1252)"]
    assert json.loads(run.ok(*command, *written))["scores"] == {"rouge-l": 1}
    assert json.loads(run.ok(*command, *written, "--engine", "stream"))["scores"] == {"rouge-l": 1}
    assert "or name its encoding: auto(encoding=utf-16) or auto(encoding=cp1252) as its format" in run.refused(*command)
    for text, message in (
        ("csv(codec=x)", "the format csv: a parameter must be one of encoding, separator, rejected, got 'codec'"),
        ("csv(encoding)", "a format csv(encoding): a parameter is PARAMETER=VALUE, once, got 'encoding'"),
        ("cvs(encoding=cp1252)", "no caption format is called 'cvs'"),
    ):
        assert message in run.refused(*command, "--candidate-format", text)
