"""Records the scores of SPICE's original program: `python tests/goldens/record_spice.py JARS [CORPUS…]`.

JARS is a folder with CoreNLP 3.6.0 and its models, of Maven Central (`edu.stanford.nlp:stanford-corenlp`), and, for
Java 15 and newer, a JavaScript engine (`org.openjdk.nashorn:nashorn-core:15.4`, `org.ow2.asm:asm` with `-commons`,
`-tree`, `-util` and `-analysis`, 9.5). The program itself is that of the installed pycocoevalcap 1.2. Needs a Java
runtime, the folder that SACRECAP_SHARED names, and some two hours of processor time.

Writes, beside this file, `spice-original.json.gz`: the F of all tuples, rounded to six digits, by corpus and image.
`tests/recorded_spice.py` reads it, and says what the images are.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pycocoevalcap.spice import spice

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import recorded_spice
import sacrecap


def scores(jars: str, references: dict[str, list[str]], candidates: dict[str, str]) -> dict[str, float]:
    """The program's F of each image, whose captions are cut by the COCO tokenizer, as the suite does before it."""
    items = [
        {"image_id": image, "test": tokens([candidates[image]])[0], "refs": tokens(captions)}
        for image, captions in references.items()
    ]
    program = Path(spice.__file__).parent
    paths = os.pathsep.join([str(program / "spice-1.0.jar"), str(program / "lib" / "*"), str(Path(jars, "*"))])
    with tempfile.TemporaryDirectory() as folder:
        given, answered = Path(folder, "in.json"), Path(folder, "out.json")
        given.write_text(json.dumps(items), encoding="utf-8")
        command = ["java", "-Xmx6G", "-Dfile.encoding=UTF-8", "-cp", paths, "edu.anu.spice.SpiceScorer"]
        subprocess.run([*command, given, "-out", answered, "-detailed", "-subset", "-silent"], check=True)
        found = json.loads(answered.read_text(encoding="utf-8"))
    return {answer["image_id"]: round(answer["scores"]["All"]["f"], 6) for answer in found}


def tokens(captions: list[str]) -> list[str]:
    """The captions' tokens, joined by blanks."""
    return [" ".join(words) for words in sacrecap.tokenize(captions)]


def main(jars: str, *names: str) -> None:
    kept = recorded_spice.read() if recorded_spice.FILE.exists() else {}
    corpora = recorded_spice.corpora(Path(os.environ["SACRECAP_SHARED"]) / "data")
    for name in names or corpora:
        kept[name] = scores(jars, *corpora[name])
    recorded_spice.FILE.write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode("ascii"), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
