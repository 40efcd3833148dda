"""Copies of pycocoevalcap as projects change them, in the shapes of public ones, written for these tests.

Each is made from the installed package, by few changes. As a program, `zoo.py FOLDER NAME…` scores captions by the
copies of that folder, and prints what each of them returns: with and without `sacrecap.compat`.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import io
import json
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REFERENCES = {
    9: ["A man is riding a horse.", "The man (in red) rides the horse!"],
    3: ["Two dogs run along the beach", "dogs, running on a beach."],
    7: ["一只狗在跑。", "A boy can't see a red bus - and a car"],
    1: ["A cat sits on the sofa of its owner.", "the cat's sofa"],
}
CANDIDATES = {
    9: "A man riding the Horse.",
    3: "Two dogs run - on the beach!",
    7: "一只狗, a red bus",
    1: "The cat is on the sofa",
}
TOKENISED = (
    {image: [" ".join(one.lower().split()) for one in some] for image, some in REFERENCES.items()},
    {image: [" ".join(one.lower().split())] for image, one in CANDIDATES.items()},
)

PARAPHRASES = "0.05\nruns\nrun\n0.02\nman\nboy\n0.03\nis on\nsits on\n"
"""A small table for METEOR."""


class Coco:
    """Captions of images, videos or sound, as `COCOEvalCap` takes them."""

    def __init__(self, captions: Mapping[int, Sequence[str]], kind: str) -> None:
        rows = {image: [{"image_id": image, "caption": one} for one in some] for image, some in captions.items()}
        setattr(self, {"Img": "imgToAnns", "Video": "videoToAnns", "Audio": "audioToAnns"}[kind], rows)
        setattr(self, f"get{kind}Ids", lambda: list(rows))


@dataclass(frozen=True)
class Copy:
    """A copy of the package, and how its project calls it.

    Attributes:
        changes: texts to put in the place of others, by file; or a whole file.
        call: what the project does; it takes the import path of the copy.
        kept: the files that compat keeps, of those that are imported. All others are replaced.
        package: the import path.
        java: whether something in it, or in the original, runs Java.
        own_table: whether METEOR's table of paraphrases is its own.
    """

    changes: Mapping[str, str | Mapping[str, str]]
    call: Callable[[str], Any]
    kept: Sequence[str] = ()
    package: str = "{name}.pycocoevalcap"
    java: bool = False
    own_table: bool = False


def scorers(package: str) -> Any:
    """Each scorer on its own, by its name in its module."""
    found = {}
    for module, name in (("bleu.bleu", "Bleu"), ("cider.cider", "Cider"), ("rouge.rouge", "Rouge")):
        found[name] = getattr(importlib.import_module(f"{package}{module}"), name)().compute_score(*TOKENISED)
    return found


def dotted(package: str) -> Any:
    return scorers(f"{package}.")


def evaluated(*arguments: Any, kind: str = "Img", images: Sequence[int] = (), **named: Any) -> Callable[[str], Any]:
    """`COCOEvalCap` of the copy."""

    def call(package: str) -> Any:
        made = importlib.import_module(f"{package}.eval").COCOEvalCap(
            Coco(REFERENCES, kind), Coco({image: [one] for image, one in CANDIDATES.items()}, kind), *arguments, **named
        )
        if images:
            made.params["image_id"] = list(images)
        made.evaluate()
        names = ("imgToEval", "videoToEval", "audioToEval", "evalImgs", "scores")
        return [made.eval, *(getattr(made, name) for name in names if hasattr(made, name))]

    return call


def of_rows(package: str) -> Any:
    """An evaluation that takes mappings and rows."""
    rows = [{"image_id": image, "caption": one} for image, one in CANDIDATES.items()]
    made = importlib.import_module(f"{package}.eval").EvalCap(REFERENCES, rows)
    made.evaluate()
    return made.eval


def of_class(module: str, name: str, *arguments: Any) -> Callable[[str], Any]:
    """One scorer, which the project made."""
    return lambda package: getattr(importlib.import_module(f"{package}.{module}"), name)(*arguments).compute_score(
        *TOKENISED
    )


def rewards(package: str) -> Any:
    """CIDEr-D of samples, by frequencies out of a file."""
    scorer = importlib.import_module(f"{package}.cider.cider").Cider(df="counts")
    return scorer.compute_score(*TOKENISED)


EVAL = """
from .bleu.bleu import Bleu
from .cider.cider import Cider
from .rouge.rouge import Rouge
from .tokenizer.ptbtokenizer import PTBTokenizer

class COCOEvalCap:
    def __init__(self, coco, cocoRes{arguments}):
        self.coco, self.cocoRes, self.eval, self.{one}ToEval = coco, cocoRes, {{}}, {{}}
        self.params = {{"{id}": coco.get{kind}Ids()}}
        {init}

    def evaluate(self{evaluate}):
        ids = self.params["{id}"]
        gts, res = ({{i: side.{one}ToAnns[i] for i in ids}} for side in (self.coco, self.cocoRes))
        {tokenizer}
        for scorer, method in {scorers}:
            score, scores = scorer.compute_score(gts, res)
            if isinstance(score, list):
                score, scores = score[-1], scores[-1]
            self.eval[method] = score
            for i, own in zip(gts.keys(), scores):
                self.{one}ToEval.setdefault(i, {{"{id}": i}})[method] = own
        {end}
"""


def own_eval(**parts: str) -> str:
    """A changed `eval.py`."""
    plain = {
        "arguments": "", "one": "img", "id": "image_id", "kind": "Img", "init": "pass", "evaluate": "", "end": "pass",
        "tokenizer": "gts, res = PTBTokenizer().tokenize(gts), PTBTokenizer().tokenize(res)",
        "scorers": "[(Bleu(4), 'Bleu_4'), (Rouge(), 'ROUGE_L'), (Cider(), 'CIDEr')]",
    }  # fmt: skip
    return EVAL.format(**{**plain, **parts})


BY_WORDS = """
PUNCTUATION = ".,!?()-"

class PTBTokenizer:
    def __init__(self, tokenization_fn=None, verbose=True):
        self.cut = tokenization_fn or (lambda text: {cut})

    def tokenize(self, captions_for_image):
        return {{k: [" ".join(self.cut(c["caption"])) for c in v] for k, v in captions_for_image.items()}}
"""
"""Tokenizers without Java."""


def by_words(cut: str) -> dict[str, str]:
    return {"tokenizer/ptbtokenizer.py": BY_WORDS.format(cut=cut), "eval.py": own_eval()}


LOWER = "text.lower().strip(PUNCTUATION).split()"
WITH_FREQUENCIES = {
    "import CiderScorer\n": "import CiderScorer\nimport os, pickle\n",
    "refs=None, n=4, sigma=6.0):": "refs=None, n=4, sigma=6.0, df='corpus'):\n        self._df = df",
    "(score, scores) = cider_scorer.compute_score()": "score, scores = cider_scorer.compute_score(self._df)",
}
BY_FREQUENCIES = {
    "def compute_score(self, option=None, verbose=0):": (
        "def compute_score(self, df, option=None, verbose=0):\n"
        "        import os, pickle\n"
        "        if df != 'corpus':\n"
        "            known = pickle.load(open(os.path.join('data', df + '.p'), 'rb'))\n"
        "            self.compute_doc_freq = lambda: self.document_frequency.update(known['df'])"
    ),
    "assert(len(self.ctest) >= max(self.document_frequency.values()))": "pass",
}
OF_ROWS = """
from .bleu.bleu import Bleu
from .rouge.rouge import Rouge
from .tokenizer.ptbtokenizer import PTBTokenizer

class EvalCap:
    def __init__(self, annos, rests, cls_tokenizer=PTBTokenizer, use_scorers=("Bleu", "ROUGE_L")):
        self.annos, self.rests, self.tokenizer, self.use, self.eval = annos, rests, cls_tokenizer(), use_scorers, {}

    def evaluate(self):
        gts = self.tokenizer.tokenize({str(i): [{"caption": c} for c in own] for i, own in self.annos.items()})
        res = self.tokenizer.tokenize({str(row["image_id"]): [{"caption": row["caption"]}] for row in self.rests})
        for name, scorer in (("Bleu", Bleu(4)), ("ROUGE_L", Rouge())):
            if name in self.use:
                self.eval[name] = scorer.compute_score(gts, res)
"""
CIDER_R = """
import numpy as np
from {package}.cider.cider_scorer import CiderScorer

class ShorterFirst(CiderScorer):
    def compute_cider(self):
        self.ref_len = np.log(float(len(self.crefs)))
        return [sum(one.values()) / (1 + len(self.document_frequency)) for one in self.ctest]

class CiderR:
    def compute_score(self, gts, res):
        scorer = ShorterFirst()
        for i in gts:
            scorer += (res[i][0], gts[i])
        return scorer.compute_score()
"""

KEPT_TOKENIZER = ("eval", "tokenizer.ptbtokenizer")

ZOO: dict[str, Copy] = {
    "unchanged": Copy({}, dotted, package="unchanged.evalcap.coco_caption.pycocoevalcap"),
    "other_layout": Copy(
        {
            "rouge/rouge.py": {"self.beta = 1.2": "self.beta = (1.2)   # recall counts more", "\n": "\r\n"},
            "bleu/bleu.py": {"class Bleu:": 'class Bleu(object):\n    """BLEU, here."""\n'},
            "cider/cider.py": {"from .cider_scorer": "from other_layout.pycocoevalcap.cider.cider_scorer"},
        },
        dotted,
    ),
    "other_suffix": Copy({}, dotted, package="other_suffix.metrics.text"),
    "flat": Copy({}, lambda _: scorers(""), package=""),
    "fewer_metrics": Copy(by_words(LOWER), evaluated(), KEPT_TOKENIZER),
    "by_characters": Copy(by_words("[c for c in text if c.strip()]"), evaluated(), KEPT_TOKENIZER),
    "punctuation_stays": Copy(by_words("text.lower().replace('.', ' .').split()"), evaluated(), KEPT_TOKENIZER),
    "capitals_stay": Copy(by_words("text.strip(PUNCTUATION).split()"), evaluated(), KEPT_TOKENIZER),
    "some_images": Copy(by_words(LOWER), evaluated(images=(1, 9)), KEPT_TOKENIZER),
    "other_keys": Copy(
        {**by_words(LOWER), "eval.py": own_eval(end="self.eval = {k.upper(): v * 100 for k, v in self.eval.items()}")},
        evaluated(),
        KEPT_TOKENIZER,
    ),
    "of_videos": Copy(
        {**by_words(LOWER), "eval.py": own_eval(one="video", id="video_id", kind="Video")},
        evaluated(kind="Video"),
        KEPT_TOKENIZER,
    ),
    "of_sound": Copy(
        {
            **by_words(LOWER),
            "eval.py": own_eval(
                one="audio",
                id="audio_id",
                kind="Audio",
                evaluate=", verbose=True",
                end="self.eval['SPIDEr'] = self.eval['CIDEr'] / 2",
            ),
        },
        evaluated(kind="Audio"),
        KEPT_TOKENIZER,
    ),
    "chosen_metrics": Copy(
        {
            **by_words(LOWER),
            "eval.py": own_eval(
                arguments=", cocoTypes, tokenization_fn=None, verbose=True",
                init="self.types, self.cut = cocoTypes, tokenization_fn",
                tokenizer="gts, res = (PTBTokenizer(self.cut).tokenize(side) for side in (gts, res))",
                scorers="[({'BLEU': Bleu(4), 'CIDEr': Cider()}[one], one) for one in self.types]",
            ),
        },
        evaluated(["BLEU", "CIDEr"], str.split, verbose=False),
        KEPT_TOKENIZER,
    ),
    "used_scorers": Copy(
        {
            **by_words(LOWER),
            "eval.py": own_eval(
                arguments=", use_scorers=('CIDEr',)",
                init="self.use = use_scorers",
                scorers="[(s, n) for s, n in ((Bleu(4), 'Bleu'), (Cider(), 'CIDEr')) if n in self.use]",
                end="self.scores = [self.imgToEval[i] for i in sorted(self.imgToEval)]",
            ),
        },
        evaluated(use_scorers=("CIDEr",)),
        KEPT_TOKENIZER,
    ),
    "jieba_again": Copy(
        {
            **by_words(LOWER),
            "eval.py": own_eval(
                tokenizer="gts, res = PTBTokenizer().tokenize(gts), PTBTokenizer().tokenize(res)\n"
                "        gts = {i: [' '.join(some[0].replace(' ', '')), *some[1:]] for i, some in gts.items()}"
            ),
        },
        evaluated(),
        KEPT_TOKENIZER,
    ),
    "frequencies_of_a_file": Copy(
        {"cider/cider.py": WITH_FREQUENCIES, "cider/cider_scorer.py": BY_FREQUENCIES},
        rewards,
        ("cider.cider", "cider.cider_scorer"),
    ),
    "one_image_counts": Copy(
        {"cider/cider_scorer.py": {"self.ref_len = np.log(float(len(self.crefs)))": "self.ref_len = 1.0"}},
        dotted,
        ("cider.cider", "cider.cider_scorer"),
    ),
    "smoothed": Copy(
        {"bleu/bleu_scorer.py": {"tiny = 1e-15": "tiny = 1e-2"}}, dotted, ("bleu.bleu", "bleu.bleu_scorer")
    ),
    "other_recall": Copy({"rouge/rouge.py": {"self.beta = 1.2": "self.beta = 1.0"}}, dotted, ("rouge.rouge",)),
    "own_scorer_of_a_scorer": Copy({"ciderR.py": CIDER_R}, of_class("ciderR", "CiderR")),
    "own_constants": Copy(
        {"words.py": "from .tokenizer.ptbtokenizer import PUNCTUATIONS\nfrom .rouge.rouge import my_lcs\n"},
        lambda package: (
            importlib.import_module(f"{package}.words").PUNCTUATIONS,
            importlib.import_module(f"{package}.words").my_lcs("abcd", "bd"),
        ),
    ),
    "part_is_missing": Copy(
        {"rouge/rouge.py": ""},
        lambda package: hasattr(importlib.import_module(f"{package}.rouge.rouge"), "Rouge"),
        ("rouge.rouge",),
    ),
    "other_spice_call": Copy(
        {"spice/spice.py": "class Spice:\n    def compute_score(self, gts, res):\n        return 0.5, [0.5] * 4\n"},
        of_class("spice.spice", "Spice"),
        ("spice.spice",),
    ),
    "own_eval": Copy({"eval.py": own_eval()}, evaluated(), ("eval",), java=True),
    "of_rows": Copy(
        {"eval.py": OF_ROWS, "bleu/bleu_scorer.py": {"tiny = 1e-15": "tiny = 1e-9"}},
        of_rows,
        ("bleu.bleu", "bleu.bleu_scorer", "eval"),
        java=True,
    ),
    "meteor_too": Copy(
        {"eval.py": "from .meteor.meteor import Meteor\n" + own_eval(scorers="[(Meteor(), 'METEOR')]")},
        evaluated(),
        ("eval",),
        java=True,
    ),
    "other_meteor_table": Copy({}, of_class("meteor.meteor", "Meteor"), ("meteor.meteor",), java=True, own_table=True),
    "other_meteor_call": Copy(
        {"meteor/meteor.py": {"'-norm']": "'-norm', '-m', 'exact']"}},
        of_class("meteor.meteor", "Meteor"),
        ("meteor.meteor",),
        java=True,
        own_table=True,
    ),
    "meteor_by_sorted_ids": Copy(
        {"meteor/meteor.py": {"imgIds = gts.keys()": "imgIds = sorted(gts.keys())"}},
        of_class("meteor.meteor", "Meteor"),
        ("meteor.meteor",),
        java=True,
        own_table=True,
    ),
    "ascii_alone": Copy(
        {
            "tokenizer/ptbtokenizer.py": {"sentences.encode()": "sentences.encode('ascii', 'ignore')"},
            "eval.py": own_eval(),
        },
        evaluated(),
        KEPT_TOKENIZER,
        java=True,
    ),
    "stripped_again": Copy(
        {"tokenizer/ptbtokenizer.py": {'".", "?", "!",': '"?", "!",'}, "eval.py": own_eval()},
        evaluated(),
        KEPT_TOKENIZER,
        java=True,
    ),
}


def build(folder: Path, name: str, original: Path) -> None:
    """Writes a copy of the original, with its changes."""
    copy = ZOO[name]
    place = folder.joinpath(*package_of(name).split("."))
    for file in original.glob("**/*.py"):
        target = place / file.relative_to(original)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    for jar in original.glob("*/*.jar"):
        (place / jar.relative_to(original)).symlink_to(jar)
    if copy.own_table:  # beside the program itself, not beside a link to it
        jar = place / "meteor/meteor-1.5.jar"
        jar.unlink()
        shutil.copy(original / "meteor/meteor-1.5.jar", jar)
        (place / "meteor/data").mkdir()
        (place / "meteor/data/paraphrase-en.gz").write_bytes(gzip.compress(PARAPHRASES.encode()))
    for file_name, change in copy.changes.items():
        target = place / file_name
        text = change if isinstance(change, str) else target.read_text("utf-8")
        for old, new in change.items() if not isinstance(change, str) else ():
            assert old in text, (name, file_name, old)
            text = text.replace(old, new)
        target.write_bytes(text.replace("{package}", package_of(name)).encode())


def package_of(name: str) -> str:
    return ZOO[name].package.format(name=name)


def plain(value: Any) -> Any:
    """Results as JSON has them."""
    if isinstance(value, dict):
        return [[str(key), plain(one)] for key, one in value.items()]
    if isinstance(value, (str, bool)):
        return value
    return [plain(one) for one in value] if hasattr(value, "__iter__") else float(value)


def main(folder: str, names: Sequence[str]) -> None:
    """Prints the results of each copy, and what was printed on the way."""
    os.chdir(folder)
    os.makedirs("data", exist_ok=True)
    with open("data/counts.p", "wb") as file:
        pickle.dump({"df": {("a",): 3.0, ("the",): 2.0, ("the", "beach"): 1.0}}, file)
    sys.path.insert(0, folder)
    for name in names:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            found = plain(ZOO[name].call(package_of(name)))
        print(json.dumps([name, found, printed.getvalue()]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
