"""A `java` that behaves as SPICE's program does, or as badly as a caption tells it to.

Its scene graph of a caption is the caption's words, and that of the example the right one. It is a script, written into
a folder, which it also writes its calls to: the number of images in each.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sacrecap.resources.stanford.program import EXAMPLE_GRAPH

SCRIPT = """\
#!{python} -IS
import json, os, signal, sys
here = os.path.dirname(os.path.abspath(__file__))
if "-version" in sys.argv:
    print(open(here + "/version").read(), file=sys.stderr)
    sys.exit()
given, answered = sys.argv[sys.argv.index("edu.anu.spice.SpiceScorer") + 1], sys.argv[sys.argv.index("-out") + 1]
items = json.load(open(given))
with open(here + "/calls", "a") as file:
    print(len(items), file=file)
with open(here + "/arguments", "w") as file:
    json.dump(sys.argv, file)
words = {{word for item in items for caption in [item["test"], *item["refs"]] for word in caption.split()}}
print("[main] INFO edu.stanford.nlp.pipeline.StanfordCoreNLP - Adding annotator tokenize", file=sys.stderr)
if "crash" in words:
    print('Exception in thread "main" java.lang.IllegalStateException: no parse', file=sys.stderr)
    print("\\tat edu.anu.spice.SpiceScorer.main(SpiceScorer.java:1)", file=sys.stderr)
    sys.exit(3)
if "once" in words and not os.path.exists(here + "/once"):
    open(here + "/once", "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
if "killed" in words:
    os.kill(os.getpid(), signal.SIGKILL)
if "hang" in words:
    if os.path.exists(here + "/alive"):
        # Whoever reads the pipe sees its end when this process ends.
        alive = open(here + "/alive", "w")
        print(os.path.dirname(given), file=alive, flush=True)
    while True:
        signal.pause()
if "memory" in words:
    print("Threads( StanfordCoreNLP ) WARNING: Parsing of sentence ran out of memory (length=400).  "
          "Will ignore and continue.", file=sys.stderr)
if "full" in words:
    print("java.io.IOException: No space left on device", file=sys.stderr)
    sys.exit(1)
if "chatty" in words:
    for _ in range(2000):
        sys.stderr.write("x" * 1000)

EXAMPLE = {example}

def graph(captions):
    if "two red balls" in " ".join(captions):
        return [{{"tuple": names, "truth_value": True}} for names in EXAMPLE]
    return [{{"tuple": [word], "truth_value": False}} for word in sorted(set(" ".join(captions).split()))]

answers = [
    {{
        "image_id": item["image_id"],
        "ref_tuples": graph(item["refs"]),
    }}
    for item in items
]
if "half" in words:
    answers.pop()
text = json.dumps(answers)
if "cut" in words:
    text = text[: len(text) // 2]
with open(answered, "w") as file:
    file.write(text)
"""


class FakeJava:
    """The script in its folder."""

    def __init__(self, folder: Path, version: str = "17.0.15") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.path = folder / "java"
        self.path.write_text(SCRIPT.format(python=sys.executable, example=list(EXAMPLE_GRAPH)), encoding="utf-8")
        self.path.chmod(0o755)
        self.say_version(f'openjdk version "{version}" 2025-04-15')

    def say_version(self, text: str) -> None:
        (self.folder / "version").write_text(text, encoding="utf-8")

    def edit(self, old: str, new: str) -> None:
        """Changes the script."""
        text = self.path.read_text(encoding="utf-8")
        assert old in text
        self.path.write_text(text.replace(old, new), encoding="utf-8")

    @property
    def calls(self) -> list[int]:
        """Numbers of images of its calls."""
        file = self.folder / "calls"
        return [int(line) for line in file.read_text(encoding="utf-8").split()] if file.exists() else []

    @property
    def arguments(self) -> str:
        """What it was called with last."""
        return (self.folder / "arguments").read_text(encoding="utf-8")
