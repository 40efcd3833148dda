"""The old names lead to sacrecap, and programs that import them run as they do by themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sacrecap.compat
from sacrecap.compat import SUITES
from sacrecap.compat.__main__ import main
from sacrecap.errors import UsageError

FOLDER = Path(sacrecap.compat.__file__).parent

ORIGINALS = (
    "bleu.bleu",
    "bleu.bleu_scorer",
    "cider.cider",
    "cider.cider_scorer",
    "eval",
    "meteor.meteor",
    "rouge.rouge",
    "spice.spice",
    "tokenizer.ptbtokenizer",
)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


def run(*arguments: object, folder: Path | None = None, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=folder)


def compat(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run("-m", "sacrecap.compat", *arguments, folder=folder)


def modules(suite: str) -> list[str]:
    files = (path.relative_to(FOLDER).with_suffix("") for path in (FOLDER / suite).rglob("*.py"))
    return [".".join(file.parts).removesuffix(".__init__") for file in files]


def test_every_module_of_the_original_is_there_but_its_downloader() -> None:
    import importlib.util

    (original,) = importlib.util.find_spec("pycocoevalcap").submodule_search_locations  # type: ignore[union-attr,misc]
    files = {path.relative_to(original).as_posix() for path in Path(original).rglob("*.py")}
    ours = {path.relative_to(FOLDER / "pycocoevalcap").as_posix() for path in (FOLDER / "pycocoevalcap").rglob("*.py")}
    assert files - ours == {"spice/get_stanford_models.py", "example/coco_eval_example.py"}


def test_nothing_is_imported_that_sacrecap_does_not_need(program: Path) -> None:
    names = [f"sacrecap.compat.{name}" for suite in SUITES for name in modules(suite)]
    program.write_text(
        "import importlib, sys\n"
        "sys.modules.update(dict.fromkeys(['typing_extensions', 'pycocotools', 'pandas', 'scipy', 'six']))\n"
        f"for name in {names!r}:\n    importlib.import_module(name)\n"
    )
    done = run(program)
    assert done.returncode == 0, done.stderr


def test_old_names_lead_to_sacrecap_and_back(program: Path) -> None:
    """Modules of the installed pycocoevalcap, whose packages stay its own, and of packages that are not there."""
    absent = [name for suite in SUITES if suite != "pycocoevalcap" for name in modules(suite)]
    names = [*sorted({f"pycocoevalcap.{name}" for name in ORIGINALS}), *absent]
    program.write_text(
        "import importlib, pickle, sys\n"
        "import sacrecap.compat\n"
        f"sacrecap.compat.install({SUITES!r})\n"
        f"sacrecap.compat.install({SUITES!r})\n"
        f"for name in {names!r}:\n"
        "    module = importlib.import_module(name)\n"
        "    assert module is importlib.import_module('sacrecap.compat.' + name), name\n"
        "    assert module.__spec__.name == module.__name__ == 'sacrecap.compat.' + name, name\n"
        "import pycocoevalcap.bleu.bleu\n"
        "from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS\n"  # what only the original has
        "assert '--' in PUNCTUATIONS\n"
        "assert pycocoevalcap.bleu.bleu.Bleu(2).compute_score({1: ['a b']}, {1: ['a b']}, verbose=0)\n"
        "from pycocoevalcap.eval import Bleu, Cider, COCOEvalCap, Meteor, PTBTokenizer, Rouge, Spice\n"
        "assert type(pickle.loads(pickle.dumps(Cider()))) is Cider\n"
        "sacrecap.compat.uninstall()\n"
        "import pycocoevalcap.rouge.rouge\n"
        "assert pycocoevalcap.rouge.rouge.__name__ == 'pycocoevalcap.rouge.rouge'\n"
        "assert Bleu.__module__ == 'sacrecap.compat.pycocoevalcap.bleu.bleu'\n"
        "try:\n"
        "    import pyciderevalcap.cider\n"
        "except ModuleNotFoundError as error:\n"
        "    assert error.name == 'pyciderevalcap'\n"
        "else:\n"
        "    raise AssertionError\n"
    )
    done = run(program)
    assert done.returncode == 0, done.stderr


def test_packages_inside_a_program_are_replaced_too(program: Path) -> None:
    """As in `cider.pyciderevalcap`."""
    (program.parent / "cider").mkdir()
    (program.parent / "models").mkdir()
    (program.parent / "models" / "__init__.py").write_text("from .pycocoevalcap.rouge.rouge import Rouge\n")
    program.write_text(
        "from cider.pyciderevalcap.ciderD.ciderD import CiderD\n"
        "import models\n"
        "assert CiderD.__module__ == 'sacrecap.compat.pyciderevalcap.ciderD.ciderD'\n"
        "assert models.Rouge.__module__ == 'sacrecap.compat.pycocoevalcap.rouge.rouge'\n"
    )
    done = compat("--only", ",".join(SUITES), program)
    assert done.returncode == 0, done.stderr


def test_a_program_keeps_its_arguments_status_and_place(program: Path) -> None:
    (program.parent / "beside.py").write_text("VALUE = 5\n")
    program.write_text(
        "import sys, beside, os\n"
        "from pycocoevalcap.cider.cider import Cider\n"
        "absolute = __file__ == os.path.abspath(__file__)\n"
        "print(Cider.__module__, sys.argv[1:], sys.argv[0], __name__, absolute, sys.path[0])\n"
        "sys.exit(beside.VALUE)\n"
    )
    done = compat("program.py", "--only", "x", "-m", folder=program.parent)
    assert done.returncode == 5, done.stderr
    assert done.stdout.split(" ", 1)[0] == "sacrecap.compat.pycocoevalcap.cider.cider"
    alone = run("program.py", "--only", "x", "-m", folder=program.parent)
    assert alone.returncode == 5
    assert alone.stdout.split(" ", 1)[1] == done.stdout.split(" ", 1)[1]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    1 / 0\nf()\n",
        "import pycocoevalcap.wmd.wmd\n",
        "import pyciderevalcap.wmd\n",
        "a b\n",
        "exit('no')\n",
    ],
)
def test_a_program_keeps_its_traceback(program: Path, text: str) -> None:
    program.write_text(text)
    done, alone = compat(program), run(program)
    assert done.returncode == alone.returncode == 1
    if "pyciderevalcap" in text:
        assert done.stderr.splitlines()[-1] == (
            "ModuleNotFoundError: No module named 'pyciderevalcap.wmd' in sacrecap.compat, which stands for the "
            "original; sacrecap.compat.uninstall() ends that"
        )
        assert f'File "{program}", line 1' in done.stderr.splitlines()[1]
    else:
        assert done.stderr == alone.stderr


def test_a_module_is_run_as_python_runs_it(program: Path) -> None:
    package = program.parent / "tool"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import sys\nfrom . import __name__ as inside\nfrom pycocoevalcap.eval import Bleu\n"
        "print(Bleu.__module__, inside, __name__, sys.argv)\n"
    )
    done, alone = (run(*how, "-m", "tool", "a", folder=program.parent) for how in (("-m", "sacrecap.compat"), ()))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sacrecap.compat.pycocoevalcap.bleu.bleu tool __main__ ")
    assert done.stdout.split(" ", 1)[1] == alone.stdout.split(" ", 1)[1]


@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.soak)])
def test_processes_of_the_program_have_the_names_too(program: Path, method: str) -> None:
    program.write_text(
        "import multiprocessing\n"
        "from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer\n"
        "def cut(text):\n"
        "    return PTBTokenizer().tokenize({1: [{'caption': text}]}), PTBTokenizer.__module__\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n"
        "        for found in pool.map(cut, ['A dog.', 'Cats!']):\n"
        "            print(found)\n"
    )
    done = compat("--only=pycocoevalcap", program)
    assert done.returncode == 0, done.stderr
    module = "sacrecap.compat.pycocoevalcap.tokenizer.ptbtokenizer"
    assert done.stdout == f"({{1: ['a dog']}}, '{module}')\n({{1: ['cats']}}, '{module}')\n"


def test_the_original_is_not_replaced_once_it_was_imported(program: Path) -> None:
    program.write_text(
        "import sys\nimport pycocoevalcap.bleu.bleu\nimport sacrecap.compat\nfrom sacrecap.errors import UsageError\n"
        "try:\n    sacrecap.compat.install()\nexcept UsageError as error:\n    print(error)\n"
        "sacrecap.compat.install(['pyciderevalcap'])\n"
        "from pyciderevalcap.eval import CIDErEvalCap\n"
    )
    done = run(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pycocoevalcap")
    assert "is imported already (" in done.stdout
    assert done.stdout.endswith(
        "call sacrecap.compat.install() before the first import of it, or run the program by python -m sacrecap.compat "
        "SCRIPT\n"
    )


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="a package to replace must be one of .*, got 'pycocoeval' .did you mean"):
        sacrecap.compat.install(["pycocoeval"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which program?"),
        (("-m",), "which program?"),
        (("--only",), "--only needs a value"),
        (("--onyl", "a"), "there is no option --onyl"),
        (("--only", "pycoco", "a.py"), "a package to replace must be one of"),
    ],
)
def test_wrong_command_lines(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*arguments])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert message in said.splitlines()[0]
    assert "usage: python -m sacrecap.compat" in said


def test_a_program_that_is_missing(tmp_path: Path) -> None:
    done = compat("missing.py", folder=tmp_path)
    assert done.returncode == 2
    assert "missing.py: No such file" in done.stderr.splitlines()[0]
    assert "usage: python -m sacrecap.compat" in done.stderr


def test_help_is_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    assert capsys.readouterr().out.startswith("usage: ")


def test_meteors_tables_are_found_behind_the_name_that_is_replaced(program: Path) -> None:
    """They may come from an installed pycocoevalcap: not from what stands in for it."""
    program.write_text(
        "from pycocoevalcap.meteor.meteor import Meteor\n"
        "print(Meteor().compute_score({1: ['a dog runs']}, {1: ['a dog ran']})[0])\n"
    )
    done = compat(program)
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 1
