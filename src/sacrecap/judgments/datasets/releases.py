"""Releases of judgments in files of their own, as one form each.

A form has the fields by which a file is recognised; the function below them makes judgments of one of its records.

Flickr8k (Hodosh, Young, Hockenmaier, JAIR 2013): expert ratings and crowd votes of captions retrieved for images. Both
name captions of the token file by `image.jpg#number`. Expert: image, caption, three ratings from 1 (does not describe
the image) to 4 (describes it without error). CrowdFlower: image, caption, share of yes, votes for yes and no.

THumB (Kasai et al., NAACL 2022): precision, recall and penalties of captions of COCO images. `mscoco_THumB-1.0.jsonl`
holds the ratings, a line per caption, and names images by `seg_id`; `mscoco_references.jsonl` holds their references.
Total = (precision + recall) / 2 minus the penalties for fluency, conciseness and inclusive language; the release has
these penalties as numbers below 0.

COMPOSITE (Aditya et al., CVIU 2018): captions of machines and people, rated from 1 to 5. Tables of Mechanical Turk's
form, separated by semicolons, with a row per image: `Input.image_url`, three or four captions (`Input.text1`, …) and
their ratings (`Answer.Q1Answer`, …). `coco_correctness.csv` has their relevance, `coco_throughness.csv` how thorough
they are; likewise `8k_…` and `30k_…`. The release has no references, and does not say who wrote a caption: one that is
among the references of its image is a human's.

The CIDEr paper (Vedantam et al., CVPR 2015): pairs, of PASCAL-50S and ABSTRACT-50S, and the triplets behind both.
A triplet is of sentences A, B and C, with a vote on which of B and C is closer to A. A is a reference of an image; the
triplets of a pair (B, C) follow one another, one for each reference. Files are the released `.mat` (a struct array
`triplets` of A, B, C and rating) or CSV of `pair,A_reference,B,C,vote`.

PASCAL-50S: 4,000 pairs of captions, 1,000 of each category. The release is `pair_pascal.mat` (image, both captions, who
wrote them, category, direct votes) and, in the same folder, `consensus_pascal.mat` (one triplet per reference; the
votes decide). Copies as JSON lines hold the pair, its references, `category` and `consensus_label` (0: B is preferred,
1: C) on one line; a copy may be in several files, such as one per category.

ABSTRACT-50S: 400 pairs of sentences about drawn scenes, 48 references each. Each reference has one vote, and the
majority wins. The release names no categories. An image has two pairs that share one sentence: the pair whose other
sentence fits the references less (lower CIDEr-D) is human incorrect (HI), the other human correct (HC).
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, starmap
from pathlib import Path
from typing import NamedTuple

from sacrecap.choices import CATEGORIES
from sacrecap.data import read_references
from sacrecap.data.image_ids import key
from sacrecap.data.rows import is_matlab, load_matlab, unwrap
from sacrecap.data.source import PathLike, display_name
from sacrecap.data.tables import is_number
from sacrecap.errors import DataError, UsageError, option
from sacrecap.judgments.datasets.records import (
    KEY,
    JudgedPair,
    JudgmentForm,
    RatedCaption,
    Record,
    WhatToRead,
    add_references,
    read_document,
    read_lines,
    read_records,
)
from sacrecap.judgments.judged_rows import READER, letters_of, majority

TOKENS = "Flickr8k.token.txt"

_EXPERT = ("image", "caption", "first rating", "second rating", "third rating")
_CROWD = ("image", "caption", "share of yes", "votes for yes", "votes for no")


def columns_of(line: str) -> set[str]:
    """The columns of the file that a line is of, if it is one of the two."""
    parts = line.split("\t")
    if len(parts) != 5 or "#" not in parts[1]:
        return set()
    share, *votes = parts[2:]
    # Ratings are whole numbers from 1; a share is a fraction, 0, or 1 if all votes are yes.
    is_share = "." in share or "0" in (share, *votes)
    return set(_CROWD if is_share else _EXPERT)


def _flickr8k_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """The lines, with their captions, of the token file, and the references of their images by id."""
    source, tokens, records = display_name(path), to_read.captions, []
    if tokens is None:
        tokens = os.path.join(os.path.dirname(os.fspath(path)), TOKENS)
        if not os.path.exists(tokens):
            raise DataError(
                f"{source}: the captions are in {TOKENS}, which is not in the same folder; put it there, or name it "
                f"with {option('captions', 'FILE', of=READER)}"
            )
    sentences: dict[str, dict[str, str]] = {}
    for number, line in read_lines(tokens):
        name, tab, sentence = line.partition("\t")
        if not tab or "#" not in name:
            raise DataError(f"{display_name(tokens)}, line {number}: expected image.jpg#0, a tab and a caption")
        sentences.setdefault(name.partition("#")[0], {})[name] = sentence.strip()
    for number, line in read_lines(path):
        record, parts = Record(source, number, {}), line.split("\t")
        if len(parts) != 5:
            raise record.refuse(
                f"{len(parts)} columns, expected 5: image, caption id, and three numbers, with tabs between"
            )
        image, name, *numbers = parts
        if image not in sentences:
            raise record.refuse(f"no captions of image {image!r} in the token file; add them or remove the row")
        of_image = name.partition("#")[0]
        text = sentences.get(of_image, {}).get(name)
        if text is None:
            raise record.refuse(f"no caption {name!r} in the token file; add it or remove the row")
        record.fields = {"image": image, "id": name, "numbers": numbers, "is_reference": of_image == image}
        record.fields |= {"caption": text, "references": sentences[image]}
        records.append(record)
    if not records:
        raise DataError(f"{source}: no judgment in it")
    return records


def _count(record: Record, text: str, what: str, least: int, most: float = math.inf) -> int:
    value = int(text) if text.strip().isdecimal() else -1
    if not least <= value <= most:
        bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise record.refuse(f"{what} must be a whole number {bounds}, got {text!r}")
    return value


@partial(
    JudgmentForm,
    "flickr8k-expert",
    _EXPERT,
    records=_flickr8k_records,
    reads_captions=True,
    left_out="rows left out whose caption is one of the image's own references",
)
def flickr8k_expert(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    """Each expert's rating; captions that are references are left out."""
    image, references = record.fields["image"], tuple(record.fields["references"].values())
    ratings = tuple(float(_count(record, number, "a rating", 1, 4)) for number in record.fields["numbers"])
    if not record.fields["is_reference"]:
        yield RatedCaption(image, references, record.fields["caption"], ratings)


def _without_judged(records: Sequence[Record]) -> list[str]:
    """Removes judged captions from the references of their own image, and says how many."""
    judged = {record.fields["id"] for record in records if record.fields["is_reference"]}
    for record in records:
        references = record.fields["references"].items()
        record.fields["references"] = {name: text for name, text in references if name not in judged}
    return [f"judged captions removed from the references of their own image: {len(judged):,}"] if judged else []


@partial(JudgmentForm, "flickr8k-cf", _CROWD, records=_flickr8k_records, remarks=_without_judged, reads_captions=True)
def flickr8k_crowd(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    """The share of yes."""
    image, references = record.fields["image"], tuple(record.fields["references"].values())
    if not references:
        raise record.refuse(f"every reference of image {image!r} is itself judged, so no reference is left")
    text, *counts = record.fields["numbers"]
    yes, no = (_count(record, count, "a number of votes", 0) for count in counts)
    share = float(text) if is_number(text) else -1.0
    if not 0 <= share <= 1:
        raise record.refuse(f"the share of yes must be a number from 0 to 1, got {text!r}")
    if yes + no == 0 or abs(share - yes / (yes + no)) > 1e-6:
        raise record.refuse(f"a share of {text} does not follow from {yes} votes for yes and {no} for no")
    yield RatedCaption(image, references, record.fields["caption"], (share,), votes=(yes, no))


ASPECTS = {
    "total": ("human_score", -10.0, 5.0),
    "precision": ("P", 1.0, 5.0),
    "recall": ("R", 1.0, 5.0),
    "fluency": ("Fl", -5.0, 0.0),
    "conciseness": ("Con", -5.0, 0.0),
    "inclusive": ("Inc", -5.0, 0.0),
}
"""Fields that people rated: name, smallest and largest value."""


def _thumb_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """The ratings, with the references of the file that is given, or of the first of their folder that has some."""
    captions = to_read.captions
    if captions is None:
        for file in sorted(Path(path).parent.glob("*.jsonl")):
            with open(file, encoding="utf-8", errors="replace") as lines:
                first = lines.readline()
            if '"refs"' in first and '"seg_id"' in first:
                captions = file
                break
        else:
            raise DataError(
                f"{display_name(path)}: no file of references (JSON lines of seg_id and refs) in its folder; put it "
                f"there, or name it with {option('captions', 'FILE', of=READER)}"
            )
    references = {record.name("seg_id"): record.captions("refs") for record in read_records(captions)}
    records = read_records(path)
    add_references(records, references, "seg_id")
    return records


@partial(JudgmentForm, "thumb", ("seg_id", "hyp"), records=_thumb_records, aspects=tuple(ASPECTS), reads_captions=True)
def thumb(record: Record, to_read: WhatToRead) -> Iterator[RatedCaption]:
    """One aspect of a caption, or the total."""
    field, least, most = ASPECTS[to_read.rating or ""]
    rating = (record.number(field, record.find(field), least, most),)
    yield RatedCaption(
        record.name("seg_id"), record.captions("references"), record.caption("hyp"), rating, record.name("SYS")
    )


_URL, _TEXT, _ANSWER = "Input.image_url", "Input.text", "Answer."


def _captions_of(path: PathLike, to_read: WhatToRead) -> PathLike:
    """The file of references that a call names for a file that has none. Raises `DataError` where it does not."""
    if to_read.captions is None:
        captions = option("captions", "FILE", of=READER)
        raise DataError(f"{display_name(path)}: has no references; name a file of them with {captions}")
    return to_read.captions


def _composite_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """The rows, with the references of their images."""
    captions = _captions_of(path, to_read)
    described, records = read_references(captions), read_records(path)
    for record in records:
        if not _filled(record, _ANSWER):
            continue
        url = record.name(_URL)
        names = [url.rpartition("/")[2], *(key(url, how) or "" for how in ("stem", "number"))]
        image = next((name for name in names if name in described), None)
        if image is None:
            raise record.refuse(f"no references of image {names[0]!r} in {display_name(captions)}; add them")
        record.fields |= {"image": image, "references": described.captions(image)}
    return records


def _filled(record: Record, beginning: str) -> list[str]:
    """The columns of ratings, or captions, that are there; none in the rows below the table that some copies have."""
    return [name for name in record.fields if name.startswith(beginning) and str(record.fields[name] or "").strip()]


def _composite_aspect(first: Record, named: str | None) -> str:
    """What the file's ratings are of, by its name."""
    aspect = "thoroughness" if "through" in os.path.basename(first.source).lower() else "relevance"
    if named not in (None, aspect):
        raise UsageError(f"{first.source} has ratings of {aspect}, those of {named!r} are in another file")
    return aspect


@partial(
    JudgmentForm,
    "ratings",
    (_URL, f"{_TEXT}1"),
    records=_composite_records,
    aspect_of=_composite_aspect,
    left_out="rows without ratings, left out",
    reads_captions=True,
)
def composite(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    """The captions of an image, each with its rating."""
    answers, texts = _filled(record, _ANSWER), _filled(record, _TEXT)
    if answers and len(texts) != len(answers):
        raise record.refuse(f"{len(texts)} captions and {len(answers)} ratings; expected one for each")
    references = record.fields.get("references", [])
    human = set(map(letters_of, references))
    for text, answer in zip(texts, answers, strict=False):
        rating, caption = record.number(answer, record.find(answer), 1.0, 5.0), record.caption(text)
        is_human = letters_of(caption) in human
        yield RatedCaption(
            record.name("image"),
            references,
            caption,
            (rating,),
            "human" if is_human else text.removeprefix("Input."),
            categories="human" if is_human else "machine",
        )


_CORRECTED = ("human_corrected_hall_caption", "hall_caption")


@partial(JudgmentForm, "d-foil", _CORRECTED, left_out="captions in which nothing was corrected, left out")
def _d_foil(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    b, c = map(record.caption, _CORRECTED)
    if b != c:
        yield JudgedPair(record.name("image_id"), [record.caption("caption")], b, c, 1)


def _foil_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    records, references = read_document(path), read_references(_captions_of(path, to_read)).to_dict()
    add_references([record for record in records if record.find("foil")], references, "image_id")
    return records


@partial(
    JudgmentForm,
    "foil",
    ("foil_word", "target_word", "foil_id"),
    records=_foil_records,
    left_out="captions without a foil word, which their foils give, left out",
    reads_captions=True,
)
def _foil(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    if record.find("foil"):
        wrong = record.caption("caption")
        right = wrong.replace(record.caption("foil_word"), record.caption("target_word"))
        references = [text for text in record.captions("references") if text not in (right, wrong)]
        yield JudgedPair(record.name("image_id"), references, right, wrong, 1)


@partial(JudgmentForm, "pascal-50s", ("captions", "label", "references"))
def _labelled_pairs(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    label, category = record.find("label"), record.name(KEY)
    if isinstance(label, bool) or label not in (0, 1):
        raise record.refuse(f"label must be 0 (the first caption is preferred) or 1 (the second is), got {label!r}")
    pair = record.captions("captions")
    if len(pair) != 2 or category not in CATEGORIES:
        raise record.refuse(f"expected two captions of a category ({', '.join(CATEGORIES)})")
    b, c = pair
    yield JudgedPair(record.name("image"), record.captions("references"), b, c, -1 if label else 1, category)


@partial(JudgmentForm, "flickr8k-expert", ("human_judgement", "ground_truth"))
def _ratings_of_images(record: Record, _: WhatToRead) -> Iterator[RatedCaption]:
    """The ratings of each caption, in the order of the captions."""
    ratings: dict[tuple[str, str], list[float]] = {}
    judgements = record.find("human_judgement")
    if not isinstance(judgements, list):
        raise record.refuse(f"human_judgement must be a list of ratings, got {judgements!r}")
    for judgement in judgements:
        judged = Record(record.source, record.line, judgement if isinstance(judgement, dict) else {})
        key = judged.name("image_id"), judged.caption("caption")
        ratings.setdefault(key, []).append(judged.number("rating", judged.find("rating"), 0.0, 4.0))
    for (image, caption), values in ratings.items():
        yield RatedCaption(image, record.captions("ground_truth"), caption, tuple(values))


_MSVD = ("mean", "accuracy", "completeness", "conciseness", "relevance")
"""Its lists have the mean last."""


@partial(JudgmentForm, "msvd-eval", ("vname", "ref", "candidate", "human_score"), aspects=_MSVD)
def _msvd_eval(record: Record, to_read: WhatToRead) -> Iterator[RatedCaption]:
    raters = record.find("human_score")
    if not isinstance(raters, list) or not all(
        isinstance(rater, list) and len(rater) == len(_MSVD) for rater in raters
    ):
        raise record.refuse("human_score must have a list of five numbers of each person")
    place = _MSVD.index(to_read.rating or "") - 1
    ratings = tuple(record.number("human_score", rater[place], 1.0, 5.0) for rater in raters)
    yield RatedCaption(record.name("vname"), record.captions("ref"), record.caption("candidate"), ratings)


RELEASES = (_d_foil, _labelled_pairs, _ratings_of_images, _foil, _msvd_eval)
"""A file is of the first that fits."""


COLUMNS = ("A_reference", "B", "C", "vote")


class Triplet(NamedTuple):
    """A vote: +1 if B is closer to the reference, −1 if C is."""

    reference: str
    b: str
    c: str
    vote: int


def read_triplets(path: PathLike) -> list[Triplet]:
    """The triplets in the order of the file. Raises `DataError`."""
    source, triplets = display_name(path), []
    rows: Iterable[Mapping[str, object]]
    if is_matlab(path):
        structs = load_matlab(path, "triplets")["triplets"].ravel()
        names = structs.dtype.names or ()
        rating = [name for name in names if name not in ("A", "B", "C")]
        if len(rating) != 1 or len(names) != 4:
            raise DataError(f"{source}: triplets must have the fields A, B, C and rating, they have {', '.join(names)}")
        fields = dict(zip(COLUMNS, ("A", "B", "C", *rating), strict=True))
        rows = ({column: unwrap(struct[name]) for column, name in fields.items()} for struct in structs)
    else:
        rows = csv.DictReader(line for _, line in read_lines(path))
        if not set(COLUMNS) <= set(rows.fieldnames or ()):
            raise DataError(
                f"{source}: columns {', '.join(rows.fieldnames or ()) or 'none'}; expected {', '.join(COLUMNS)}"
            )
    for number, row in enumerate(rows, 1):
        where = f"{source}, triplet {number}"
        if None in row or None in row.values():
            raise DataError(f"{where}: not as many columns as the first line")
        *texts, vote = (row[name] for name in COLUMNS)
        reference, b, c = (str(text).strip() for text in texts)
        if not (reference and b and c):
            raise DataError(f"{where}: an empty sentence; each of A, B and C needs one")
        if str(vote) not in ("1", "-1"):
            raise DataError(f"{where}: the vote must be 1 (B is closer) or -1 (C is), got {vote!r}")
        triplets.append(Triplet(reference, b, c, int(str(vote))))
    if not triplets:
        raise DataError(f"{source}: no triplet in it")
    return triplets


CONSENSUS = "consensus_pascal.mat"

_PEOPLE: dict[str | None, str] = {"6": "human", "7": "human, other image"}
"""The release has numbers of who wrote a caption; 1 to 5 are machines."""


def _check_once(records: Sequence[Record]) -> list[str]:
    """No remark. Raises `DataError` for a pair that comes twice; its number is the field `pair`, if a copy has it."""
    by_number: dict[object, Record] = {}
    for record in records:
        number = record.fields.get("pair")
        first = record if number is None else by_number.setdefault(str(number), record)
        if first is not record:
            raise record.refuse(f"pair {number} is in {first.source}, line {first.line}, too; remove one of them")
    return []


@partial(JudgmentForm, "pascal-50s", ("consensus_label",), records=read_records, remarks=_check_once)
def _pascal50s_lines(record: Record, _: WhatToRead) -> Iterator[JudgedPair]:
    label, category = record.find("consensus_label"), record.name("category")
    if isinstance(label, bool) or label not in (0, 1):
        raise record.refuse(f"consensus_label must be 0 (B is preferred) or 1 (C is), got {label!r}")
    if category not in CATEGORIES:
        raise record.refuse(f"category must be one of {', '.join(CATEGORIES)}, got {category!r}")
    labels = record.fields.get("voc_objects", []) or []
    if not isinstance(labels, list) or not all(isinstance(label, str) and label.strip() for label in labels):
        raise record.refuse(f"voc_objects must be a list of labels, got {labels!r}")
    image, references, b, c = record.name("image"), record.captions("references"), *map(record.caption, "BC")
    direct = record.votes() if record.has("votes") else None
    b_system, c_system = (_PEOPLE.get(author, author) for author in map(record.known_name, ("source_B", "source_C")))
    yield JudgedPair(
        image,
        references,
        b,
        c,
        preferred=-1 if label else 1,
        categories=category,
        direct=direct,
        b_system=b_system,
        c_system=c_system,
        objects=labels if "voc_objects" in record.fields else None,
    )


def _pascal_pairs(path: PathLike, to_read: WhatToRead) -> list[JudgedPair]:
    """The pairs of `pair_pascal.mat`; references and winners are of `consensus_pascal.mat`, if it is beside it."""
    source = display_name(path)
    contents = load_matlab(path, "new_input", "new_data", "category", "result")
    pairs = contents["new_input"].ravel()
    images, b, c = ([str(unwrap(pair[name])).strip() for pair in pairs] for name in ("name", "sent1", "sent2"))
    results, numbers = contents["result"].ravel(), contents["category"].ravel()
    if not len(pairs) == len(results) == len(numbers) == len(contents["new_data"]):
        raise DataError(f"{source}: new_input, new_data, category and result are not equally long; download it again")
    direct = [[int(vote) for vote in result["result"].ravel().tolist()] for result in results]
    for place, (votes_of_pair, number) in enumerate(zip(direct, numbers.tolist(), strict=True), 1):
        if not votes_of_pair or any(vote not in (1, -1) for vote in votes_of_pair):
            raise DataError(f"{source}: the votes of pair {place} must be 1 or -1, got {votes_of_pair}")
        if not 1 <= number <= len(CATEGORIES):
            raise DataError(f"{source}: pair {place} is of category {number}, expected 1 to {len(CATEGORIES)}")
    consensus = os.path.join(os.path.dirname(os.fspath(path)), CONSENSUS)
    has_consensus = os.path.exists(consensus)
    if not has_consensus and to_read.captions is None:
        raise DataError(
            f"{source}: the references are not in this file; put {CONSENSUS} in its folder, or name a reference "
            f"file, such as pascal50S.mat, with {option('captions', 'FILE', of=READER)}"
        )
    references: list[list[str]] = [[]] * len(pairs)
    votes = direct
    if has_consensus:  # pairs follow one another, each with equally many triplets
        triplets = read_triplets(consensus)
        size, rest = divmod(len(triplets), len(b))
        if rest or not size:
            raise DataError(
                f"{consensus}: {len(triplets):,} triplets cannot be divided evenly among {len(b):,} pairs; download it "
                "again"
            )
        grouped = [triplets[start : start + size] for start in range(0, len(triplets), size)]
        for number, (triplets_of_pair, *captions) in enumerate(zip(grouped, b, c, strict=True), 1):
            if any([triplet.b, triplet.c] != captions for triplet in triplets_of_pair):
                raise DataError(
                    f"{consensus}: the triplets of pair {number} are about other captions; download it again"
                )
        references = [[triplet.reference for triplet in triplets_of_pair] for triplets_of_pair in grouped]
        votes = [[triplet.vote for triplet in triplets_of_pair] for triplets_of_pair in grouped]
    categories = [CATEGORIES[number - 1] for number in numbers.tolist()]
    of_others = (votes, direct) if has_consensus else [[None] * len(pairs)] * 2
    authors = [[_PEOPLE.get(str(who), str(who)) for who in column] for column in contents["new_data"].T.tolist()]
    winners = map(majority, votes)
    columns = zip(images, references, b, c, winners, categories, votes, *of_others, *authors, strict=True)
    return list(starmap(JudgedPair, columns))


PASCAL50S = (
    _pascal50s_lines,
    JudgmentForm(
        "pascal-50s",
        ("new_input",),
        records=_pascal_pairs,
        remarks=lambda pairs: (
            [f"without {CONSENSUS}, the majority of the direct votes wins"] * (pairs[0].direct is None)
        ),
        is_matlab=True,
    ),
)


def _abstract_pairs(path: PathLike, _: WhatToRead) -> list[JudgedPair]:
    """The pairs of `consensus_abstract.mat`, or of the same triplets as CSV; those of the same references are of one
    image. HC or HI depends on how well the sentence that the image's two pairs do not share fits the references.
    """
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import CiderD
    from sacrecap.scoring.score import score_corpus

    images: dict[frozenset[str], int] = {}
    members: dict[str, list[int]] = {}
    pairs: list[JudgedPair] = []
    for (b, c), grouped in groupby(read_triplets(path), key=lambda triplet: (triplet.b, triplet.c)):
        triplets = list(grouped)
        references, votes = [triplet.reference for triplet in triplets], [triplet.vote for triplet in triplets]
        image = str(images.setdefault(frozenset(references), len(images)))
        members.setdefault(image, []).append(len(pairs))
        pairs.append(JudgedPair(image, references, b, c, majority(votes), votes=votes, reference_votes=votes))
    second_captions: dict[str, str] = {}
    for image, numbers in members.items():
        sentences = [{pairs[number].b, pairs[number].c} for number in numbers]
        shared = set.intersection(*sentences)
        if len(sentences) != 2 or len(shared) != 1:
            raise DataError(
                f"{display_name(path)}: image {image} has {len(sentences)} pairs; ABSTRACT-50S has two per image, "
                "which share one sentence (give other pairs as JSON lines, with "
                f"{option('dataset', 'pairs', of=READER)})"
            )
        for number, both in zip(numbers, sentences, strict=True):
            [second_captions[str(number)]] = both - shared
    corpus = Corpus({str(number): pair.references for number, pair in enumerate(pairs)}, second_captions)
    fit = list(score_corpus(corpus, [CiderD()])[CiderD.family].per_image_values())
    is_least = [fit[number] == min(fit[m] for m in members[pair.image]) for number, pair in enumerate(pairs)]
    return [pair._replace(categories="HI" if least else "HC") for pair, least in zip(pairs, is_least, strict=True)]


ABSTRACT50S = tuple(
    JudgmentForm(
        "abstract-50s",
        fields,
        records=_abstract_pairs,
        remarks=lambda _: ["categories derived by CIDEr-D, because the release names none"],
        is_matlab=is_matlab,
    )
    for fields, is_matlab in ((COLUMNS, False), (("triplets",), True))
)
