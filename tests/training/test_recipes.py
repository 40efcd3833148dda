"""The recipes of the how-to pages do what the pages say, in two processes where they are for several."""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from pages import DOCS, blocks
from processes import import_ahead, in_processes

LOOP = DOCS / "howto" / "use-in-a-training-loop.md"


def recipe(page: Path, name: str) -> str:
    return next(block.text for block in blocks(page) if block.name == name)


import_ahead("torch._dynamo", "torchmetrics", "lightning", "transformers.trainer_seq2seq", "transformers.models.bart")


def run(page: Path, name: str, folder: Path, processes: int) -> list[str]:
    """What the page's script prints, line by line; of several processes, started as by `torchrun`, first to last."""
    return run_text(recipe(page, name), name, folder, processes)


def run_text(script: str, name: str, folder: Path, processes: int) -> list[str]:
    (folder / name).write_text(script, encoding="utf-8")
    environment = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_HOME": str(folder / "hub")}
    printed = in_processes(as_script, name, folder=folder, processes=processes, environment=environment)
    return [line for each in printed for line in each.splitlines() if line.startswith(("rank ", "{"))]


def as_script(name: str) -> None:
    warnings.simplefilter("ignore")
    sys.argv = [name]
    runpy.run_path(name, run_name="__main__")


@pytest.mark.torch
def test_accumulators_of_several_processes(tmp_path: Path) -> None:
    pytest.importorskip("torch", exc_type=ImportError)
    references = {str(image): [f"a dog number {image} runs", "a dog is running"] for image in range(7)}
    candidates = {image: f"a dog number {image}" for image in references}
    score = sacrecap.score(references, candidates, "rouge-l, cider-d", interval=None)["cider-d"]
    printed = run(LOOP, "several_processes.py", tmp_path, 2)
    assert printed == [f"rank {rank}: 7 images, CIDEr-D {score:.4f}" for rank in range(2)]


@pytest.mark.torch
def test_lightning_in_two_processes(tmp_path: Path) -> None:
    pytest.importorskip("lightning", exc_type=ImportError)
    references = {str(image): [f"a dog number {image} runs", "a dog is running"] for image in range(7)}
    candidates = {image: f"a dog number {image}" for image in references}
    score = sacrecap.score(references, candidates, "cider-d", interval=None)["cider-d"]
    expected = {"val/cider": round(score * 100, 2)}
    printed = "".join(run(LOOP, "lightning_loop.py", tmp_path, 2))
    assert re.findall(r"rank \d: (\{.*?\})", printed) == [str(expected)] * 2


TRAINER = """
import torch
from transformers import BartConfig, BartForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments

WORDS = ["<s>", "<pad>", "</s>", "a", "dog", "runs", "bus", "red", "cat"]
CAPTIONS = [[3, 4, 5], [3, 7, 6], [3, 8], [3, 4], [3, 8, 5]]
REFERENCES = sacrecap.References([[" ".join(WORDS[word] for word in caption)] for caption in CAPTIONS])

class Tokenizer:
    pad_token_id = 1

    def batch_decode(self, ids, skip_special_tokens):
        return [" ".join(WORDS[word] for word in row if word > 2) for row in ids]

class Captions(torch.utils.data.Dataset):
    def __len__(self):
        return len(CAPTIONS)

    def __getitem__(self, image):
        caption = torch.tensor([*CAPTIONS[image], 2, *[-100] * (3 - len(CAPTIONS[image]))])
        return {"input_ids": torch.tensor([0, 3 + image, 2]), "labels": caption}

if __name__ == "__main__":
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(WORDS), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=16,
        forced_eos_token_id=None,
    )
    trainer = Seq2SeqTrainer(
        BartForConditionalGeneration(config),
        Seq2SeqTrainingArguments(
            "run", use_cpu=True, predict_with_generate=True, generation_max_length=6, num_train_epochs=80,
            learning_rate=0.03, logging_strategy="no", per_device_eval_batch_size=2, report_to=[], save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=Captions(),
        eval_dataset=Captions(),
        compute_metrics=metrics_of(REFERENCES, Tokenizer()),
    )
    trainer.train()
    scores = trainer.evaluate()
    print(f"rank {trainer.args.process_index}: {scores['eval_rouge-l']}")
"""
"""What follows the page's `metrics_of`."""


@pytest.mark.torch
def test_the_trainer_in_two_processes(tmp_path: Path) -> None:
    """A model that has learnt its captions by heart has full scores only where captions meet their own references."""
    pytest.importorskip("transformers", exc_type=ImportError)
    pytest.importorskip("accelerate", exc_type=ImportError)
    printed = run_text(recipe(LOOP, "trainer_metrics.py") + TRAINER, "trainer_loop.py", tmp_path, 2)
    found = [line for line in printed if line.startswith("rank ")]
    assert len(found) == 2
    for line in found:
        assert float(line.partition(": ")[2]) > 90, line


@pytest.mark.torch
def test_the_module_for_evaluate(tmp_path: Path) -> None:
    pytest.importorskip("evaluate", exc_type=ImportError)
    references = [["a dog runs"], ["a red bus", "the bus"]]
    score = sacrecap.score(references, ["a dog", "a bus"], "rouge-l, cider-d", interval=None)
    assert run(LOOP, "with_evaluate.py", tmp_path, 1) == [str(score.flat(percent=True))]


# Loggers, which are not installed: what is handed to them must be what they take.

MLFLOW_NAME = re.compile(r"^[\w./ -]*$", re.ASCII)
"""The names that MLflow's own check accepts."""


class Recorder:
    """Stands for a module or an object of a logger, and keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **_: self.calls.append((name, arguments))

    def of(self, name: str) -> Iterator[Any]:
        return (arguments for called, arguments in self.calls if called == name)


@pytest.fixture
def result() -> sacrecap.Result:
    references, candidates = {"1": ["a dog runs"], "2": ["a red bus"]}, {"1": "a dog", "2": "a bus"}
    return sacrecap.score(references, candidates, "rouge-l, cider-d(sigma=5), combine(bleu-1, rouge-l)")


def loaded(name: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(recipe(LOOP, name), names)  # noqa: S102
    return names


def check_metrics(metrics: Mapping[str, float], result: sacrecap.Result) -> None:
    assert list(metrics.values()) == [score.value * 100 for score in result.values()]
    assert all(type(value) is float and MLFLOW_NAME.match(name) for name, value in metrics.items())


def test_mlflow(result: sacrecap.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = Recorder()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    loaded("log_to_mlflow.py")["log"](result, 3)
    [(metrics,)] = mlflow.of("log_metrics")
    check_metrics(metrics, result)
    assert [*mlflow.of("log_artifact")] == [("report.html",)]
    assert Path("report.html").exists()
