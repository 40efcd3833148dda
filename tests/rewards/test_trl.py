"""The trainers of TRL take the rewards as they are: a vision-language model, a few steps of GRPO and of RLOO."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fake_endpoint import FakeEndpoint, Reply
from sacrecap import Endpoint
from sacrecap.example.tiny_llava import write_tiny_llava
from sacrecap.rewards import CaptionReward, SetReward

torch = pytest.importorskip("torch", exc_type=ImportError)
pytestmark = pytest.mark.torch

REFERENCES = {
    "beach": ["a dog runs along the beach", "a brown dog runs"],
    "city": ["two cats sit in a city", "cats in the city"],
    "park": ["a child plays with a ball", "the child has a ball"],
}


def trained(trainer: str, rewards: list[Any], folder: Path, **more: Any) -> list[dict[str, Any]]:
    """The log of two steps by these rewards."""
    import trl
    from datasets import Dataset
    from PIL import Image
    from transformers import AutoProcessor

    torch.set_num_threads(1)
    checkpoint = str(write_tiny_llava(folder / "llava", [text for group in REFERENCES.values() for text in group]))
    rows = [
        {
            "prompt": [{"role": "user", "content": "describe this image"}],
            "image": Image.new("RGB", (40, 30), (80 * number, 9, 9)),
            "image_id": image,
        }
        for number, image in enumerate(REFERENCES)
    ]
    settings: dict[str, Any] = {
        "output_dir": str(folder / "run"),
        "max_steps": 2,
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "max_completion_length": 6,
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "logging_steps": 1,
        "save_strategy": "no",
        "disable_tqdm": True,
        **more,
    }
    run = getattr(trl, f"{trainer}Trainer")(
        checkpoint,
        reward_funcs=rewards,
        args=getattr(trl, f"{trainer}Config")(**settings),
        train_dataset=Dataset.from_list(rows),
        processing_class=AutoProcessor.from_pretrained(checkpoint),
    )
    run.train()
    steps = [row for row in run.state.log_history if "reward" in row]
    assert len(steps) == 2
    return steps


@pytest.mark.filterwarnings("ignore")  # of the trainer and its dependencies
@pytest.mark.parametrize("trainer", ["GRPO", "RLOO"])
def test_a_judge_that_refuses_moves_no_mean(trainer: str, tmp_path: Path) -> None:
    """Every other caption is refused, and all others are equally good: then nothing is to be learned."""

    def answer(_body: dict[str, Any], _times: int) -> Reply:
        return Reply("", refusal="no") if len(fake.requests) % 2 else Reply('{"score": 80}')

    with FakeEndpoint(answer) as fake:
        judge = Endpoint(fake.url, "m", at_once=1, answers=str(tmp_path / "answers.sqlite"))
        steps = trained(trainer, [CaptionReward(REFERENCES, "judge(rating)", judge=judge)], tmp_path)
    for row in steps:
        assert 0 < row["sacrecap/unscored"] < 1
        assert row["reward"] == pytest.approx(0.8)
        assert row["reward_std"] == pytest.approx(0, abs=1e-6)
        assert row["grad_norm"] == pytest.approx(0, abs=1e-6)


@pytest.mark.filterwarnings("ignore")  # of the trainer and its dependencies
@pytest.mark.parametrize("trainer", ["GRPO", "RLOO"])
def test_a_trainer_takes_both_rewards(trainer: str, tmp_path: Path) -> None:
    rewards = [CaptionReward(REFERENCES), SetReward(REFERENCES, "self-cider")]
    steps = trained(trainer, rewards, tmp_path, reward_weights=[1.0, 0.5])
    for row in steps:
        accuracy, diversity = (row[f"rewards/sacrecap_{name}/mean"] for name in ("cider_d", "self_cider"))
        assert row["reward"] == pytest.approx(accuracy + 0.5 * diversity, abs=1e-5)
        assert 0 <= row["sacrecap/repetition"] <= 1
        assert 0 <= row["sacrecap/words"] <= 6
        assert 0 <= row["sacrecap/unfinished"] <= 1  # the trainer says which ids are ends
        assert 0 < row["sacrecap/within"] <= 1  # and how large groups are
    assert any(row["reward_std"] > 0 for row in steps)
