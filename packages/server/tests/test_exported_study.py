"""A study, done by people of known accuracy, exported and read back by `sacrecap agreement`."""

import json
import random

import pytest
from study_world import Person, diversity_file, make, pairwise_file, triplet_file
from test_annotating import rows

from sacrecap import judgments as study_api
from sacrecap_server.store.schema import Study
from sacrecap_server.web.context import Role


def simulate(world, study, people, accuracy, seed=0):
    """People who choose the dog, which is right, with a probability; how many chose it, by item."""
    chance = random.Random(seed)
    chosen = {}
    for number in range(people):
        person = Person(world, study, worker=f"W{number}").begin()
        while person.assignment:
            right = next(name for name, text in person.choices.items() if "dog" in text)
            wrong = "bc".replace(right, "")
            sentence = person.choices[right]
            answer = right if chance.random() < accuracy else wrong
            chosen.setdefault(sentence, []).append(answer == right)
            person.answer(choice=answer)
    return chosen


def exported(world, study, tmp_path):
    path = tmp_path / "export.jsonl"
    answer = world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/export")
    assert answer.status_code == 200
    path.write_text(answer.text, encoding="utf-8")
    return path


def agreement(path, **options):
    judgments = study_api.read_judgments(str(path))
    return judgments, study_api.agreement(judgments, interval=None, **options).to_dict()


@pytest.mark.parametrize("make_file", [triplet_file, pairwise_file])
def test_the_accuracy_of_a_metric_that_is_right_is_that_of_the_people(world, tmp_path, make_file):
    """BLEU-1 prefers the dog every time: it agrees with the people as often as their majority is right."""
    file = make_file(pairs=20, references=1, judgments=1)
    for number, item in enumerate(file["items"]):
        if number % 2:
            item["b"], item["c"] = item["c"], item["b"]
        item["category"] = "HI"
    study = make(world, file)
    chosen = simulate(world, study, 1, 0.8)
    share = sum(right for answers in chosen.values() for right in answers) / 20
    assert 0.6 < share < 1
    judgments, found = agreement(exported(world, study, tmp_path), metrics="bleu-1")
    assert judgments.dataset == "pairs"
    assert found["metrics"]["bleu-1"]["accuracy"]["all"] == pytest.approx(share)
    assert found["metrics"]["bleu-1"]["accuracy"]["HI"] == pytest.approx(share)


def test_three_people_a_triplet_decide_by_majority(world, tmp_path):
    study = make(world, triplet_file(pairs=8, references=1, judgments=3))
    chosen = simulate(world, study, 3, 0.7)
    share = sum(sum(answers) >= 2 for answers in chosen.values()) / 8
    _, found = agreement(exported(world, study, tmp_path), metrics="bleu-1")
    assert found["metrics"]["bleu-1"]["accuracy"]["all"] == pytest.approx(share)


def test_every_reference_of_a_pair_votes(world, tmp_path):
    study = make(world, triplet_file(pairs=2, references=3, judgments=1))
    person = Person(world, study).begin()
    while person.assignment:
        person.answer(choice="c" if "home" in person.page else "b")
    path = exported(world, study, tmp_path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [sorted(line["votes"]) for line in lines] == [[-1, 1, 1]] * 2
    assert [line["winner"] for line in lines] == ["b", "b"]
    assert [len(line["references"]) for line in lines] == [3, 3]
    judgments, _ = agreement(path, metrics="bleu-1")
    assert judgments.b_system == ["first", "first"]


def test_the_votes_of_references_are_split_into_halves(world, tmp_path):
    """Everybody prefers the dog at every reference, so that each half of them predicts the other."""
    study = make(world, triplet_file(pairs=6, references=3, judgments=1))
    simulate(world, study, 1, 1.0)
    judgments, found = agreement(exported(world, study, tmp_path), metrics="bleu-1", halves=3)
    assert [len(votes) for votes in judgments.reference_votes] == [3] * 6
    assert found["halves"]["people"]["accuracy"]["all"] == 1


def test_a_triplet_and_a_pairwise_study_of_the_same_pairs_meet(world, tmp_path):
    """People whose direct votes are half right prefer what the consensus prefers in half of the pairs."""
    paths = []
    for make_file, accuracy in ((triplet_file, 1.0), (pairwise_file, 0.5)):
        study = make(world, make_file(pairs=8, references=1, judgments=1))
        chosen = simulate(world, study, 1, accuracy)
        folder = tmp_path / make_file.__name__
        folder.mkdir()
        paths.append(exported(world, study, folder))
    share = sum(right for answers in chosen.values() for right in answers) / 8
    assert 0 < share < 1
    for votes, accuracy in (("consensus", 1), ("direct", share)):
        judgments = study_api.read_judgments(paths[0], pairwise=paths[1], votes=votes)
        found = study_api.agreement(judgments, metrics="bleu-1", interval=None).to_dict()
        assert found["metrics"]["bleu-1"]["accuracy"]["all"] == pytest.approx(accuracy)
        if votes == "consensus":
            assert found["direct_votes"]["accuracy"]["all"] == pytest.approx(share)


def test_exported_choices_calibrate_scores(world, tmp_path):
    """The systems' win rate is the people's, of captions that a judge has scored."""
    study = make(world, pairwise_file(pairs=15, references=1, judgments=1))
    chosen = simulate(world, study, 1, 0.8)
    path = exported(world, study, tmp_path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [(line["image_id"], line[f"{side}_system"], line[side]) for line in lines for side in "bc"]
    table = {"image_id": [image for image, _, _ in rows], "system": [system for _, system, _ in rows]}
    judge = [("dog" in caption) + number % 7 / 10 for number, (_, _, caption) in enumerate(rows)]
    found = study_api.calibrate({**table, "judge": judge}, path)
    dogs = sum(right for answers in chosen.values() for right in answers) / 15
    assert found.of == f"the share of choices that {rows[0][1]} wins"
    assert found.overall.alone == pytest.approx(dogs if "dog" in rows[0][2] else 1 - dogs)
    assert (found.overall.n, found.answers) == (15, 15)


def test_diversity_ratings_are_read_as_caption_sets(world, tmp_path):
    study = make(world, diversity_file(images=3, judgments=2))
    for scores in (("1", "6", "9"), ("0", "7", "10")):
        person = Person(world, study).begin()
        while person.assignment:
            person.answer(sets=scores)
    path = exported(world, study, tmp_path)
    table = tmp_path / "scores.csv"
    table.write_text("mine\n" + "".join(f"{n}\n" for n in (1, 2, 3) * 3), encoding="utf-8")
    judgments, found = agreement(path, metrics="lsa", raters="mean", scores=str(table))
    assert judgments.dataset == "ratings"
    assert [len(own) for own in judgments.sets] == [len(own.split("\n")) for own in judgments.captions]
    assert judgments.ratings[:3] == [(0.1, 0.0), (0.6, 0.7), (0.9, 1.0)]
    assert found["metrics"]["mine"]["kendall_b"] > 0.8
    assert found["metrics"]["mine"]["in_image"] == {"kendall_b": 1, "spearman": 1}
    images = [row.image_id for row in judgments.rows]
    scores = {"image_id": images, "caption": judgments.captions, "mine": [1, 2, 3] * 3}
    calibrated = study_api.calibrate(scores, path)
    assert calibrated.overall.estimate == pytest.approx(sum(map(sum, judgments.ratings)) / 18)
    assert (calibrated.overall.n, calibrated.answers) == (9, 18)
    assert found["metrics"]["lsa"]["n"] == 9
    assert rows(world, Study)
