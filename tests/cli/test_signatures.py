"""A signature differs where the number may, and is equal where it may not; `sacrecap verify` takes it back."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import sacrecap
from reference.digest import digest
from runner import Ended, Runner
from sacrecap import _core
from sacrecap.choices import TOKENIZERS
from sacrecap.cli.check import _tokenizer
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.tokenizers import signed
from sacrecap.errors import DataError
from sacrecap.metrics.registry import own_metrics, parse_metrics
from sacrecap.scoring.signature import Signature, in_one_line, together, without
from tiny_checkpoints import write_bert

Write = Callable[[str, object], str]
REFERENCES = {"1": ["a dog runs on grass", "one dog"], "2": ["a red bus", "a bus in a street"], "3": ["two cats sleep"]}
CAPTIONS = {"1": "a dog runs", "2": "a bus", "3": "two cats"}
OBJECTS = [
    {"image_id": "1", "detections": [{"label": "dog", "score": 0.9}, {"label": "cat", "score": 0.4}]},
    {"image_id": "2", "detections": [{"label": "bus", "score": 0.8}]},
    {"image_id": "3", "detections": [{"label": "cat", "score": 0.8}]},
]
METRICS = (
    "cider-d, bleu-4, rouge-l, vifidel, chair-i(gold=objects), combine(rouge-l, cider-d), fluency, "
    "vifidel(references=no)"
)
OF_REFERENCES = {"cider-d", "bleu-4", "rouge-l", "vifidel", "fluency", "combine(cider-d, rouge-l)"}
OF_OBJECTS = {"vifidel", "vifidel(references=no)", "chair-i(gold=objects)"}


@pytest.fixture
def files(write: Write) -> list[str]:
    write("objects.json", OBJECTS)
    return [write("references.json", REFERENCES), write("captions.json", CAPTIONS)]


def signatures(ended: Ended) -> dict[str, str]:
    assert ended.status == 0, ended.stderr
    found: dict[str, str] = json.loads(ended.stdout)["signatures"]
    return found


def scored(run: Runner, *arguments: object, metrics: str = METRICS, objects: str = "objects.json") -> dict[str, str]:
    how = ("--metrics", metrics, "--objects", objects, "--interval", "none", "--format", "json")
    return signatures(run("score", *arguments, *how))


def rows(captions: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"image_id": image, "caption": own} for image, own in captions.items()]


def table(captions: Mapping[str, str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["image_id", "caption"])
    writer.writerows(captions.items())
    return out.getvalue()


def test_every_difference_that_a_number_may_have(run: Runner, files: list[str], write: Write) -> None:
    whole = scored(run, *files)
    every = {*whole}
    other_caption = write("other.json", {**CAPTIONS, "2": "a bug"})
    swapped = write("swapped.json", {"1": CAPTIONS["2"], "2": CAPTIONS["1"], "3": CAPTIONS["3"]})
    other_reference = write("others.json", {**REFERENCES, "3": ["two cats slept"]})
    fewer = write("fewer.json", {**REFERENCES, "1": REFERENCES["1"][:1]})
    part = write("part.json", {image: CAPTIONS[image] for image in "12"})
    ids = {"1": "1", "2": "2", "3": "4"}
    renamed = [
        write("ids-r.json", {ids[image]: own for image, own in REFERENCES.items()}),
        write("ids-c.json", {ids[image]: own for image, own in CAPTIONS.items()}),
    ]
    two = write("two.json", {image: REFERENCES[image] for image in "12"})
    run.ok("df", "build", files[0], "-o", "a.df")
    (run.folder / "b").mkdir()
    run.ok("df", "build", other_reference, "-o", "b/a.df")
    for arguments, differ in [
        ((files[0], other_caption), every),
        ((files[0], swapped), every),
        ((other_reference, files[1]), OF_REFERENCES),
        ((fewer, files[1]), OF_REFERENCES),
        ((files[0], part, "--on-missing", "skip"), every),
        ((files[0], part, "--on-missing", "zero"), every),
        (renamed, every),
        ((two, part), every),
        ((*files, "--threshold", "0.5"), OF_OBJECTS),
        ((*files, "--df", "a.df"), {"cider-d", "combine(cider-d, rouge-l)"}),
        ((*files, "--tokenizer", "whitespace"), every),
    ]:
        found = scored(run, *arguments)
        assert {key for key in every if found[key] != whole[key]} == differ, arguments
        assert len({*found.values()}) == len(found)
    dfs = [scored(run, *files, "--df", name)["cider-d"] for name in ("a.df", "b/a.df")]
    assert dfs[0] != dfs[1]
    missing = [scored(run, files[0], part, "--on-missing", how)["cider-d"] for how in ("skip", "zero")]
    assert [one.partition("|missing:")[2][:4] for one in missing] == ["skip", "zero"]
    assert "|images:2/3|" in missing[0]
    assert "|images:3/3|" in missing[1]


def test_no_difference_where_the_number_has_none(run: Runner, files: list[str], write: Write) -> None:
    whole = scored(run, *files)
    turned = {image: own[::-1] for image, own in [*REFERENCES.items()][::-1]}
    lines = "".join(json.dumps(one) + "\n" for one in rows(CAPTIONS))
    both = "".join(
        json.dumps({"image_id": image, "prediction": CAPTIONS[image], "references": own}) + "\n"
        for image, own in REFERENCES.items()
    )
    labels = {"1": {"dog": 1, "cat": 1}, "2": ["bus"], "3": ["cat"], "9": ["zebra"]}
    write("labels.json", labels)
    run.ok("df", "build", files[0], "-o", "a.df")
    (run.folder / "renamed.df").write_bytes((run.folder / "a.df").read_bytes())
    for arguments in [
        (write("turned.json", turned), files[1]),
        (files[0], write("rows.json", rows(CAPTIONS)[::-1])),
        (files[0], write("lines.jsonl", lines)),
        (files[0], write("table.csv", table(CAPTIONS))),
        (write("both.jsonl", both),),
        (*files, "--threads", "1"),
        (*files, "--on-missing", "skip"),
        (*files, "--engine", "stream"),
        (write("both.jsonl", both), "--engine", "stream"),
    ]:
        assert scored(run, *arguments) == whole, arguments
    assert scored(run, *files, objects="labels.json") == whole
    assert scored(run, files[0], write("more.json", {**CAPTIONS, "7": "a cat"}), "--on-extra", "skip") == whole
    assert scored(run, *files, metrics="combine(cider-d, rouge-l)") == {
        "combine(cider-d, rouge-l)": whole["combine(cider-d, rouge-l)"]
    }
    with_df = [scored(run, *files, "--df", name) for name in ("a.df", "renamed.df")]
    assert with_df[0] == with_df[1]
    assert with_df[0]["chair-i(gold=objects)"] == whole["chair-i(gold=objects)"]


def test_containers_in_memory_have_the_signature_of_files(run: Runner, files: list[str]) -> None:
    expected = scored(run, *files, metrics="cider-d")["cider-d"]
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(rows(CAPTIONS))
    lists = pandas.DataFrame([{"image_id": image, "captions": own} for image, own in REFERENCES.items()])
    for references in (REFERENCES, lists, arrow.Table.from_pandas(lists), sacrecap.References(REFERENCES)):
        for captions in (CAPTIONS, rows(CAPTIONS), frame, arrow.Table.from_pandas(frame)):
            found = sacrecap.score(references, captions, "cider-d", interval=None)["cider-d"].signature
            assert found == expected


def test_batches_add_up_to_the_signature_of_the_whole() -> None:
    metrics = "rouge-l, bleu-1"
    expected = sacrecap.score(REFERENCES, CAPTIONS, metrics, interval=None)
    scorer = sacrecap.Scorer(metrics, image_id="image_id")
    batches = [
        {"image_id": [image], "references": [REFERENCES[image]], "caption": [CAPTIONS[image]]} for image in "312"
    ]
    for total in (sum(map(scorer.rows, batches)).score(interval=None), sum(map(scorer.statistics, batches)).result()):
        assert [score.signature for score in total.values()] == [score.signature for score in expected.values()]


def test_the_digest_is_that_of_the_slow_reference() -> None:
    random_ = random.Random(3)
    letters = 'ab1 é犬\t"🐕'
    for _ in range(50):
        texts = ["".join(random_.choices(letters, k=random_.randrange(9))) for _ in range(40)]
        ids = [f"{number}{random_.choice(letters)}x" for number in range(20)]
        pairs = [(random_.choice(ids), text) for text in texts]
        assert _core.digest(*map(list, zip(*pairs, strict=True))) == digest(pairs)
        captions = _core.Captions.of_images([(image, [t for i, t in pairs if i == image]) for image in ids], None)
        lacking = [(image, "") for image in ids if image not in {one for one, _ in pairs}]
        assert captions.digest(ids) == digest([*pairs, *lacking])


def test_where_captions_depend_on_their_neighbours_their_order_counts() -> None:
    turned = {image: REFERENCES[image] for image in "321"}
    for tokenizer, equal in (("ptb", True), ("ptb-stream", False)):
        both = [Corpus(one, CAPTIONS, tokenizer=tokenizer).digest("refs") for one in (REFERENCES, turned)]
        assert (both[0] == both[1]) is equal


@pytest.mark.parametrize("metric", own_metrics(), ids=lambda metric: metric.key)
def test_what_a_signature_begins_with_is_a_metric(metric: Any) -> None:
    if "scores" not in metric.needs:
        assert " " not in metric.head
        assert [one.head for one in parse_metrics(metric.head)] == [metric.head]


@pytest.mark.parametrize("tokenizer", ["ptb", "whitespace", "13a", "intl-lc", "13a-lc"])
def test_the_tokenizer_reads_back(tokenizer: str) -> None:
    assert tokenizer in TOKENIZERS
    assert _tokenizer(signed(tokenizer)) == tokenizer


INTERVALS = ("--interval", "0.9", "--samples", "200", "--seed", "3")
MADE_AGAIN = [
    *("cider-d", "cider-d(sigma=5)", "cider-paper", "bleu-4", "bleu-4(smoothing=add-k,k=2)", "rouge-l", "rouge-s"),
    *("spice", "meteor", "wmd", "fluency", "coverage", "precision", "combine(rouge-l,0.5*cider-d)"),
    *("vifidel", "vifidel(variant=released)", "vifidel(references=no)", "chair-i", "chair-s(gold=objects)"),
]


@pytest.mark.parametrize("metric", MADE_AGAIN)
def test_a_number_is_verified_with_each_input_right_and_wrong(
    run: Runner, files: list[str], write: Write, metric: str
) -> None:
    objects = ("--objects", "objects.json")
    out = run.here("score", *files, "--metrics", metric, *objects, *INTERVALS, "--format", "json")
    [(key, signature)] = signatures(out).items()
    assert " " not in signature
    given = objects if "|objects:" in signature else ()
    ended = run.here("verify", signature, *files, *given)
    score = json.loads(out.stdout)["scores"][key]
    assert ended.status == 0, ended
    assert ended.stdout.startswith(f"the same number: {key} {score:.4f} [")
    assert ended.stdout.splitlines()[1] == signature
    captions = write("other.json", {**CAPTIONS, "2": "a bug"})
    ended = run.here("verify", signature, files[0], captions, *given)
    assert ended.status == 3
    assert ended.stdout.splitlines()[1].startswith("captions: ")
    others = write("others.json", {**REFERENCES, "3": ["two cats slept"]})
    ended = run.here("verify", signature, others, files[1], *given)
    assert ended.status == (3 if "|refs:" in signature else 0)
    assert ("references: " in ended.stdout) == ("|refs:" in signature)
    part = write("part.json", {image: CAPTIONS[image] for image in "12"})
    ended = run.here("verify", signature, files[0], part, *given)
    assert ended.status == 3
    assert "\nimages: 3/3 in the signature, 2/3 here\n" in ended.stdout
    if given:
        assert "--objects" in run.refused("verify", signature, *files)
        ended = run.here("verify", signature, *files, *given, "--threshold", "0.5")
        assert (ended.status, "\nobjects: " in ended.stdout) == (3, True)
    ended = run.here("verify", signature.replace("sacrecap:", "sacrecap:9."), *files, *given)
    assert (ended.status, "\nversion: 9." in ended.stdout) == (3, True)
    assert ended.stdout.startswith("the same inputs by another version of sacrecap: ")


def test_further_inputs_are_verified(run: Runner, files: list[str], write: Write) -> None:
    run.ok("df", "build", files[0], "-o", "a.df")
    run.ok("df", "build", write("others.json", {**REFERENCES, "3": ["two cats slept"]}), "-o", "b.df")
    [signature] = scored(run, *files, "--df", "a.df", metrics="cider-d").values()
    assert run.here("verify", signature, *files, "--df", "a.df").status == 0
    ended = run.here("verify", signature, *files, "--df", "b.df")
    assert (ended.status, ended.stdout.splitlines()[1].startswith("frequencies: ")) == (3, True)
    assert "give them with --df" in run.refused("verify", signature, *files)

    for name, captions in (("a.lm", files[0]), ("b.lm", "others.json")):
        run.ok("df", "build", captions, "--language-model", "-o", name)
    (run.folder / "renamed.lm").write_bytes((run.folder / "a.lm").read_bytes())
    metric = "fluency(references=no)"
    one, other = (scored(run, *files, "--lm", name, metrics=metric)[metric] for name in ("a.lm", "renamed.lm"))
    assert one == other
    assert run.here("verify", one, *files, "--lm", "renamed.lm").status == 0
    ended = run.here("verify", one, *files, "--lm", "b.lm")
    assert (ended.status, ended.stdout.splitlines()[1].startswith("language model: ")) == (3, True)
    assert "give them with --lm" in run.refused("verify", one, *files)

    write("words.txt", "dog\ncat, cats\n")
    metric = "chair-i(gold=references,vocabulary=words.txt)"
    [signature] = scored(run, *files, metrics=metric).values()
    assert signature.startswith("chair-i(gold=references)|")
    assert run.here("verify", signature, *files, "--metric", metric).status == 0
    assert "--metric 'chair-i(gold=references,vocabulary=…)'" in run.here("verify", signature, *files).stderr

    write("vectors.txt", "dog 1 0 0\ndogs 0 1 0\nbus 0 0 1\ncats 1 1 0\nruns 0 1 1\nred 1 0 1\n")
    run.here("score", *files, "--metrics", "wmd", "--embeddings", "vectors.txt")
    [signature] = signatures(
        run.here("score", *files, "--metrics", "wmd", "--embeddings", "vectors.txt", "--format", "json")
    ).values()
    assert run.here("verify", signature, *files, "--embeddings", "vectors.txt").status == 0
    assert "give them with --embeddings" in run.here("verify", signature, *files).stderr


def test_missing_captions_and_captions_alone(run: Runner, files: list[str], write: Write) -> None:
    part = write("part.json", {image: CAPTIONS[image] for image in "12"})
    for how in ("skip", "zero"):
        [signature] = scored(run, files[0], part, "--on-missing", how, metrics="rouge-l").values()
        assert run.here("verify", signature, files[0], part).status == 0
        assert run.here("verify", signature, *files).status == 3
    [signature] = scored(run, *files, metrics="chair-i(gold=objects)").values()
    assert run.here("verify", signature, files[1], "--objects", "objects.json").status == 0
    # Where pictures are named in place of objects, the objects are to be looked for in these.
    ended = run.here("verify", signature, files[1], "--images", "nowhere")
    assert (ended.status, "give them with --objects" in ended.stderr) == (2, False)


@pytest.mark.parametrize(("left", "images"), [("12", "1 image without"), ("1", "2 images without")])
def test_empty_captions_in_place_of_missing_ones_only_improve_what_counts_faults(
    run: Runner, files: list[str], write: Write, left: str, images: str
) -> None:
    part = write("part.json", {image: CAPTIONS[image] for image in left})
    ended = run.here("score", files[0], part, "--on-missing", "zero", "--metrics", "chair-i(gold=references)")
    assert f"lower is better, and {images} candidate, scored as an empty caption, can only improve it" in " ".join(
        ended.stdout.split()
    )


@pytest.mark.parametrize("metric", [metric.key for metric in own_metrics() if metric.scores_sets])
def test_figures_of_caption_sets(run: Runner, files: list[str], write: Write, metric: str) -> None:
    captions = {"1": ["a dog runs", "one dog"], "2": ["a bus", "a red bus"], "3": ["cats", "two cats"]}
    sets = write("sets.json", captions)
    for given in ((), ("--references", files[0])):
        how = ("--metrics", metric, "--interval", "none", "--format", "json")
        [system] = json.loads(run.here("diversity", sets, *given, *how).stdout)["systems"].values()
        ended = run.here("verify", system["signatures"][metric], *given[1:], sets)
        assert ended.status == 0, ended
        assert f"the same number: {metric} {system[metric]:.4f}\n" in ended.stdout
        other = write(
            "other.json", {"1": ["a dog runs", "one dog"], "2": ["a bus", "a bus"], "3": ["cats", "two cats"]}
        )
        assert run.here("verify", system["signatures"][metric], *given[1:], other).status == 3
        if given:
            assert "make it again" in run.refused("verify", system["signatures"]["accuracy"], *files)


@pytest.mark.torch
def test_a_checkpoint_is_given_by_the_name_that_it_has_here(run: Runner, files: list[str]) -> None:
    write_bert(run.folder / "bert")
    metric = "sentence(model=bert,precision=bfloat16)"
    [signature] = scored(run, *files, metrics=metric).values()
    assert signature.startswith("sentence(precision=bfloat16)|")
    assert "|tok:" not in signature
    ended = run.here("verify", signature, *files, "--metric", metric, "-q")
    assert (ended.status, ended.stdout[:16]) == (0, "the same number:")
    assert "--metric m is" in run.refused("verify", signature, *files, "--metric", "rouge-l").replace("rouge-l", "m")


def test_an_empty_caption_is_one_that_is_missing_where_these_count_as_empty(
    run: Runner, files: list[str], write: Write
) -> None:
    part = write("part.json", {image: CAPTIONS[image] for image in "12"})
    [signature] = scored(run, files[0], part, "--on-missing", "zero", metrics="rouge-l").values()
    assert run.here("verify", signature, files[0], write("empty.json", {**CAPTIONS, "3": ""})).status == 0


@pytest.mark.parametrize("name", ["interval", "refs", "images", "missing"])
def test_a_metric_may_be_called_as_a_part_is(run: Runner, files: list[str], write: Write, name: str) -> None:
    write("scores.csv", f"image_id,{name}\n1,0.5\n2,0.7\n3,0.1\n")
    [signature] = signatures(
        run("score", *files, "--scores", "scores.csv", "--metrics", name, "--format", "json")
    ).values()
    assert signature.startswith(f"{name}|images:3/3|")
    assert "|interval:percentile(0.95,1000,0)|" in signature
    assert without(signature, name).startswith(f"{name}|")
    assert run.here("verify", signature, *files, "--scores", "scores.csv").status == 3


def test_what_cannot_be_made_again_is_checked_by_digests(run: Runner, files: list[str], write: Write) -> None:
    write("scores.csv", "image_id,human\n1,0.5\n2,0.7\n3,0.1\n")
    [signature] = scored(run, *files, "--scores", "scores.csv", metrics="human").values()
    ended = run.here("verify", signature, *files, "--scores", "scores.csv")
    assert ended.status == 3
    assert ended.stdout.startswith("cannot be made again here: others computed its scores; captions and all other")
    write("scores.csv", "image_id,human\n1,0.5\n2,0.7\n3,0.2\n")
    ended = run.here("verify", signature, *files, "--scores", "scores.csv")
    assert ended.stdout.splitlines()[1].startswith("scores: ")
    assert "--scores" in run.refused("verify", signature, *files)
    judge = signature.replace("human", "judge(rating)").replace("|scores:", "|model:")
    ended = run.here("verify", judge, *files)
    assert (ended.status, ended.stdout.count("\n")) == (3, 1)
    assert ended.stdout.startswith("cannot be made again here: it asks a language model")
    plugin = signature.replace("human", "unheard-of").replace("|scores:", "|code:")
    other = write("other.json", {**CAPTIONS, "2": "a bug"})
    ended = run.here("verify", plugin, files[0], other)
    assert ended.stdout.startswith("cannot be made again here: unknown metric 'unheard-of'")
    assert ended.stdout.splitlines()[1].startswith("captions: ")


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("", "it begins with ''"),
        ("images:3/3|refs:1@00000000", "it begins with 'images:3/3'"),
        ("cider-d|images:3/3|caps:00000000|tok:ptb", "it is broken off"),
        ("cider-d|images:3/3|caps:00000000|sacrecap:0.1.0|tok:ptb", "something follows sacrecap:VERSION: 'tok:ptb'"),
        ("cider-d|images:3/3|caps|sacrecap:0.1.0", "its part 'caps' is not of the form name:value"),
        ("cider-d|images:3/3|sacrecap:0.1.0", "it has no part caps:"),
        ("cidre-d|images:3/3|caps:00000000|sacrecap:0.1.0", "cider-d"),
        ("cider-d|images:3/3|caps:00000000|tok:zzz|sacrecap:0.1.0", "tok:zzz"),
        ("rouge-l|images:3/3|caps:00000000|interval:percentile(x)|sacrecap:0.1.0", "interval is mistyped"),
    ],
)
def test_what_is_wrong_with_a_signature_is_said(run: Runner, files: list[str], signature: str, message: str) -> None:
    assert message in run.refused("verify", signature, *files)


def test_signatures_of_several_systems(run: Runner, files: list[str], write: Write) -> None:
    """In one line for each metric, which `verify` takes for each of the systems."""
    other = write("other.json", {**CAPTIONS, "2": "a bug"})
    text = run.here("compare", *files, other, "--metrics", "rouge-l").stdout
    line = text.splitlines()[-1]
    assert line.startswith("rouge-l|images:3/3|refs:1-2@")
    assert [run.here("verify", line, files[0], one).status for one in (files[1], other)] == [0, 0]
    assert run.here("verify", line, files[0], write("third.json", {**CAPTIONS, "2": "bus"})).status == 3


@pytest.mark.parametrize("format_", ["table", "markdown", "latex", "csv", "json"])
def test_every_output_has_them_whole_and_in_one_line(run: Runner, files: list[str], format_: str) -> None:
    expected = signatures(run.here("score", *files, "--metrics", "bleu-1, rouge-l", "--format", "json")).values()
    lines = run.here("score", *files, "--metrics", "bleu-1, rouge-l", "--format", format_).stdout.splitlines()
    for signature in expected:
        assert any(signature in line for line in lines)


def test_signatures_add_up() -> None:
    one, other = (
        str(Signature("bleu-1", (("images", "3/3"), ("caps", caps), ("sacrecap", "1"))))
        for caps in ("ffffffff", "00000003")
    )
    assert together([one, other]) == "bleu-1|images:3/3|caps:00000002|sacrecap:1"
    assert in_one_line({"a": one, "b": other}) == ["bleu-1|images:3/3|caps:ffffffff,00000003|sacrecap:1"]
    with pytest.raises(DataError, match="no signature"):
        Signature.read("bleu-1")
