"""The door of a contest: links, files, quotas, what a team sees, and what the host does."""

from __future__ import annotations

import datetime as dt
import json
import shutil

import pytest
from door_world import START, SYSTEMS, URL, Contest, another, file_of, make_contest, run_here

from sacrecap.boards import Contest as Declared
from sacrecap_server.child import ChildFailedError
from sacrecap_server.contest.signatures import slug_of

ENDS = "ends = 2027-06-01T00:00:00Z"
AFTER = dt.datetime(2027, 6, 1, tzinfo=dt.timezone.utc)


@pytest.fixture
def contest(tmp_path):
    return Contest(tmp_path, ENDS)


def test_from_a_link_to_the_board(contest):
    browser = contest.browser("The Captioneers")
    answer = browser.upload(file_of(), system="Our first")
    assert (answer.status_code, answer.headers["location"]) == (303, "/team?taken=yes")
    assert "being scored" in browser.get("/team?taken=yes").text
    board = contest.rank()
    assert rows(board) == ["The-Captioneers/001-Our-first"]
    assert "cider-d 1.8334" in browser.get("/team").text
    assert "The-Captioneers" in browser.get("/board/index.html").text
    assert contest.client().get("/board/board.json").json() == board


def rows(board):
    """The systems of the set of references that ranks, the best first."""
    return list(next(iter(board["sets"].values()))["systems"])


def test_the_board_is_that_of_the_folder(contest, tmp_path):
    """Whoever has the folder makes the same board without the door."""
    for number, system in enumerate(SYSTEMS):
        contest.submit(file_of(system), f"Team {number}", system=system)
    made = contest.rank()
    Declared.load(contest.folder).board().write(tmp_path / "by hand")
    for name in ("board.json", "index.html"):
        assert (tmp_path / "by hand" / name).read_bytes() == (contest.site / name).read_bytes()
    assert len(rows(made)) == len(SYSTEMS)


def test_all_problems_of_a_file_are_told_by_row_and_cost_nothing(tmp_path):
    contest = Contest(tmp_path, ENDS, quota="day = 1")
    entries = [{"image_id": image, "caption": caption} for image, caption in SYSTEMS["careful"].items()][3:]
    entries[0]["caption"] = None
    entries.append({"image_id": "nowhere", "caption": "A dog."})
    wrong = json.dumps(entries).encode()
    told = contest.submit(wrong).json()["error"]
    assert "Entry 1: its caption must be text, got nothing." in told["problems"]
    assert any("'nowhere' is not part" in problem for problem in told["problems"])
    page = contest.browser().upload(wrong)
    assert page.status_code == 422
    assert "Entry 1: its caption must be text" in page.text
    assert contest.stored() == []
    assert contest.submit(file_of()).status_code == 201


def test_the_same_file_is_one_submission_and_that_of_another_team_is_another(tmp_path):
    contest = Contest(tmp_path, ENDS, quota="day = 1")
    first, again = contest.submit(file_of()), contest.submit(file_of(), system="another name")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert contest.submit(file_of(), "Team B").status_code == 201
    assert [path.name for path in contest.stored()] == ["001-mine.json"] * 2


@pytest.mark.parametrize(
    ("span", "later"),
    [
        ("day", dt.datetime(2027, 4, 1, tzinfo=dt.timezone.utc)),
        ("week", dt.datetime(2027, 4, 5, tzinfo=dt.timezone.utc)),
        ("month", dt.datetime(2027, 4, 1, tzinfo=dt.timezone.utc)),
    ],
)
def test_a_quota_is_of_a_day_a_week_from_monday_or_a_month(tmp_path, span, later):
    contest = Contest(tmp_path, ENDS, quota=f"{span} = 2")
    assert [contest.submit(another(number)).status_code for number in range(3)] == [201, 201, 429]
    refused = contest.submit(another(3)).json()["error"]["message"]
    assert f"2 submissions of this {span} (UTC)" in refused
    assert f"from {later:%Y-%m-%d %H:%M} UTC on" in refused
    contest.now = later - dt.timedelta(microseconds=1)
    assert contest.submit(another(4)).status_code == 429
    contest.now = later
    assert contest.submit(another(4)).status_code == 201


def test_every_limit_of_a_quota_holds(tmp_path):
    contest = Contest(tmp_path, ENDS, quota="day = 2\nmonth = 3")
    contest.now = START.replace(day=10)
    assert [contest.submit(another(number)).status_code for number in range(3)] == [201, 201, 429]
    assert contest.program().get("/team").json()["left"] == {"day": 0, "month": 1}
    contest.now += dt.timedelta(days=1)
    assert [contest.submit(another(number)).status_code for number in range(3, 5)] == [201, 429]


def test_a_file_that_could_not_be_scored_says_why_counts_and_is_tried_again_by_the_next_start(tmp_path):
    """Else whoever makes scoring fail has files without end."""
    fails = [True]

    def run(compute, *given):
        if compute.endswith(":scores_told") and fails.pop():
            raise ChildFailedError("It took longer than the 1 seconds allowed.")
        return run_here(compute, *given)

    contest = Contest(tmp_path, ENDS, run=run, quota="day = 1")
    contest.submit(file_of())
    contest.door.ranker.score_one()
    assert "longer than the 1 seconds" in contest.browser().get("/team").text
    assert contest.submit(another(1)).status_code == 429
    fails.append(False)
    contest.door.ledger.recover()
    contest.rank()
    assert contest.program().get("/team").json()["submissions"][0]["state"] == "scored"


def test_before_the_start_and_after_the_end_nothing_is_taken(tmp_path):
    contest = Contest(tmp_path, "starts = 2027-05-01T00:00:00Z", ENDS)
    early = contest.submit(file_of())
    assert (early.status_code, early.json()["error"]["message"]) == (
        403,
        "The contest takes submissions from 2027-05-01 00:00 UTC on.",
    )
    contest.now = AFTER - dt.timedelta(seconds=1)
    assert contest.submit(file_of()).status_code == 201
    contest.now = AFTER
    late = contest.submit(another(1))
    assert (late.status_code, "has ended, 2027-06-01 00:00 UTC" in late.text) == (403, True)
    assert "Submit captions" not in contest.browser().get("/team").text


def test_a_team_chooses_what_counts_until_the_end(contest):
    contest.submit(file_of("careful"))
    contest.submit(file_of("template"))
    assert rows(contest.rank()) == ["Team-A/001-mine"]
    browser = contest.browser()
    assert browser.post("/choose", number="2").status_code == 303
    assert rows(contest.rank()) == ["Team-A/002-mine"]
    assert "chosen" in browser.get("/team").text
    assert browser.post("/choose", number="").status_code == 303
    assert rows(contest.rank()) == ["Team-A/001-mine"]
    assert browser.post("/choose", number="3").status_code == 404
    assert browser.post("/choose", number="../../x").status_code == 404
    contest.now = AFTER
    assert browser.post("/choose", number="2").status_code == 403


def test_a_link_that_was_renewed_or_revoked_opens_nothing(contest):
    team = contest.team()
    program, browser = contest.program(team), contest.browser(team)
    old = contest.token(team)
    new = contest.door.ledger.renew(team.slug)
    for answer in (program.get("/team"), browser.get("/team"), contest.submit(file_of(), team)):
        assert answer.status_code == 401
    assert contest.browser(new).get("/team").status_code == 200
    assert Entry(contest).enter(old) == 403
    contest.door.ledger.renew(team.slug, revoked=True)
    assert Entry(contest).enter(contest.token(contest.door.ledger.team(team.slug))) == 403


def test_a_link_is_read_as_people_copy_it(contest):
    link = contest.door.link(contest.team())
    for copied in (link * 2, f"{link} {link}", f"{link}\r\n", f"<{link}>", f'"{link}".', link[:50] + "\n" + link[50:]):
        assert Entry(contest).enter(copied) == 303, copied
    host = contest.door.link(contest.door.ledger.team(""))
    assert Entry(contest).enter(f"({host})") == 303


class Entry:
    """Somebody who tries links."""

    def __init__(self, contest):
        self.contest = contest

    def enter(self, token):
        return self.contest.client().post("/enter", data={"token": token}).status_code


def test_a_link_that_is_renewed_while_its_file_is_checked_submits_nothing(tmp_path):
    def run(compute, *given):
        if compute.endswith(":problems"):
            contest.door.ledger.renew("Team-A")
        return run_here(compute, *given)

    contest = Contest(tmp_path, ENDS, run=run)
    assert contest.submit(file_of()).status_code == 403
    assert contest.stored() == []


def test_the_host_makes_teams_renews_shuts_out_and_closes(contest):
    contest.submit(file_of(), "Team A")
    host = contest.host()
    page = host.post("/host/teams", do="make", name="Team B")
    link = page.text.partition('class="secret">')[2].partition("<")[0]
    assert link.startswith(f"{URL}/enter#Team-B.0.")
    assert Entry(contest).enter(link.partition("#")[2]) == 303
    assert host.post("/host/teams", do="renew", team="Team-B").status_code == 200
    assert Entry(contest).enter(link.partition("#")[2]) == 403
    assert "shut out" in host.post("/host/teams", do="revoke", team="Team-B").text
    assert host.post("/host/teams", do="make", name=" ").status_code == 422
    for alike in ("team b", "TEAM-B", "Ｔｅａｍ Ｂ"):  # the host wrote the same name in another way
        refused = host.post("/host/teams", do="make", name=alike)
        assert (refused.status_code, "there is a team &#39;Team B&#39;" in refused.text) == (422, True)
    assert host.get("/files/Team-A/1").content == file_of()
    assert host.post("/host/close").status_code == 303
    assert Declared.load(contest.folder).ends == contest.now.replace(microsecond=0)
    assert contest.submit(another(1)).status_code == 403


def test_programs_of_the_host_and_of_a_team_do_what_their_pages_do(contest):
    contest.submit(file_of())
    host = contest.program(contest.door.ledger.team(""))
    made = host.post("/host/teams?do=make&name=Team+B")
    assert (made.status_code, "Team-B" in made.text) == (200, True)
    assert contest.program().post("/choose?number=1").json() == {"chosen": "1"}
    assert host.post("/host/close").status_code == 303
    assert contest.submit(another(1)).status_code == 403


def test_closing_leaves_a_file_that_it_cannot_change(contest):
    path = contest.folder / "contest.toml"
    path.write_text(path.read_text().replace(ENDS, f'rules = """\n[Rules]\n"""\n{ENDS}'))
    before = path.read_bytes()
    assert contest.host().post("/host/close").status_code == 409
    assert path.read_bytes() == before


def test_teams_are_no_hosts_and_hosts_no_team(contest):
    contest.submit(file_of(), "Team A")
    team, host = contest.browser(), contest.host()
    for path in ("/host", "/files/Team-B/1"):
        assert team.get(path).status_code in (403, 404)
    for path in ("/host/teams", "/host/close"):
        assert team.post(path, do="make", name="x").status_code == 403
    assert host.get("/team").status_code == 403
    assert host.upload(file_of()).status_code == 403
    for path in ("/team", "/host", "/files/Team-A/1"):
        assert contest.client().get(path).status_code == 401
    assert contest.client().post("/submit", content=file_of()).status_code == 401


def test_a_file_is_for_its_team_and_the_host(contest):
    contest.submit(file_of(), "Team A")
    assert contest.program("Team A").get("/files/Team-A/1").content == file_of()
    assert contest.program("Team B").get("/files/Team-A/1").status_code == 404
    assert contest.program("Team A").get("/files/Team-A/2").status_code == 404
    assert contest.program("Team A").get("/files/../1").status_code == 404


def test_what_the_host_takes_away_is_gone_and_still_counts(tmp_path):
    contest = Contest(tmp_path, ENDS, quota="day = 1")
    contest.submit(file_of())
    contest.stored()[0].unlink()
    contest.door.ledger.recover()
    assert "the host took this file away" in contest.browser().get("/team").text
    assert contest.submit(another(1)).status_code == 429
    assert contest.submit(file_of()).json()["state"] == "gone"
    assert contest.stored() == []


def test_private_scores_come_with_the_end(tmp_path):
    contest = Contest(tmp_path, ENDS, private="share = 50")
    contest.submit(file_of("careful"))
    contest.submit(file_of("plain"), "Team B")
    public = contest.rank()
    told = contest.program().get("/team").json()["submissions"][0]
    assert (public["part"], told["part"]) == ("public", "public")
    path = contest.folder / "contest.toml"
    path.write_text(path.read_text().replace("2027-06-01", "2020-06-01"))
    private = contest.rank()
    again = contest.program().get("/team").json()["submissions"][0]
    assert (private["part"], again["part"]) == ("private", "private")
    assert told["sets"] != again["sets"]


def test_a_contest_that_is_being_edited_answers_so_and_goes_on(contest):
    path = contest.folder / "contest.toml"
    good = path.read_text()
    path.write_text(good + "nonsense = 1\n")
    answer = contest.submit(file_of())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert "nonsense" not in answer.text
    contest.door.ranker.make_board()
    assert "nonsense" in contest.door.ranker.problem
    path.write_text(good)
    contest.rank()
    assert contest.door.ranker.problem == ""
    assert contest.submit(file_of()).status_code == 201


def test_a_host_reads_what_is_wrong_with_the_declaration_and_teams_do_not(contest, monkeypatch):
    path, looks = contest.folder / "contest.toml", []
    path.write_text(path.read_text() + "nonsense = 1\n")
    page = contest.host().get("/host")
    assert (page.status_code, "unknown key nonsense" in page.text) == (503, True)
    assert "nonsense" not in contest.browser().get("/team").text
    # Nor does the ranker take it for an outage.
    monkeypatch.setattr(contest.door.ranker, "make_board", lambda: (looks.append(1), contest.door.ranker.stop()))
    contest.door.ranker.start()
    contest.door.ranker._thread.join(60)
    assert looks == [1]


def test_pages_that_somebody_deleted_are_made_again(contest):
    contest.submit(file_of())
    contest.rank()
    shutil.rmtree(contest.site)
    assert rows(contest.rank()) == ["Team-A/001-mine"]


def test_one_of_a_hundred_that_is_broken_in_its_folder_is_told_and_others_go_on(contest):
    """Whatever a host does to the files of teams, or a disk."""
    for number in range(7):
        assert contest.submit(another(number), f"T{number}").status_code == 201
    submissions = contest.folder / "submissions"
    for number, data in enumerate((b"", b"null", b"[null]")):
        (submissions / f"T{number}" / "001-mine.json").write_bytes(data)
    (submissions / "T3" / "001-mine.json").unlink()
    (submissions / "T4" / "final").mkdir()
    shutil.rmtree(submissions / "T5")
    (submissions / "T5").write_text("no folder")
    board = contest.rank()
    assert rows(board) == ["T4/001-mine", "T6/001-mine"]
    assert sorted(board["sets"]["c5"]["refused"]) == [f"T{number}/001-mine" for number in range(3)]
    assert board["left_out"] == ["submissions/T4/final: no file", "submissions/T5: no folder of a team"]
    for number in range(7):
        assert contest.browser(f"T{number}").get("/team").status_code == 200
    assert contest.host().get("/host").status_code == 200
    assert contest.browser("T4").post("/choose", number="1").status_code == 503
    assert contest.submit(another(8), "T5").status_code == 503
    assert contest.submit(another(8), "T3").status_code == 201


def test_the_board_is_made_again_only_where_something_changed(contest):
    made = []
    contest.site.mkdir()
    (contest.site / "index.html").touch()
    contest.door.ranker.run = lambda compute, *_: made.append(compute)
    contest.submit(file_of())
    for _ in range(3):
        contest.door.ranker.make_board()
    assert len(made) == 1
    contest.submit(another(1))
    contest.door.ranker.make_board()
    assert len(made) == 2
    contest.now = AFTER
    contest.door.ranker.make_board()
    assert len(made) == 3


def test_a_board_that_could_not_be_made_is_tried_again(contest):
    made = []

    def run(compute, *_):
        made.append(compute)
        if len(made) == 1:
            raise ChildFailedError("No space left on device.")
        contest.site.mkdir()
        (contest.site / "index.html").touch()

    contest.door.ranker.run = run
    contest.door.ranker.make_board()
    assert "No space left" in contest.host().get("/host").text
    contest.door.ranker.make_board()
    contest.door.ranker.make_board()
    assert len(made) == 2
    assert "No space left" not in contest.host().get("/host").text


def test_files_that_the_host_put_into_a_folder_stay_what_they_are(contest):
    """Such as those of a contest whose database is lost."""
    folder = contest.folder / "submissions" / "Team-A"
    folder.mkdir(parents=True)
    for name in ("001-mine.json", "002-by-hand.json"):
        (folder / name).write_bytes(file_of("template"))
    contest.submit(file_of())
    assert [path.name for path in contest.stored()] == ["001-mine.json", "002-by-hand.json", "003-mine.json"]
    assert contest.stored()[0].read_bytes() == file_of("template")
    assert rows(contest.rank()) == ["Team-A/003-mine"]


def test_the_door_says_what_a_file_needs(contest):
    assert contest.client().get("/images.txt").text.splitlines() == list(SYSTEMS["careful"])
    empty = contest.client().get("/captions.json").json()
    assert [entry["image_id"] for entry in empty] == list(SYSTEMS["careful"])
    page = contest.client().get("/").text
    assert "Our contest" in page
    assert "until <time>2027-06-01 00:00 UTC</time>" in page


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Team A.", "Team-A"),
        ("../../etc/passwd", "etc-passwd"),
        ("=1+1", "1-1"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("_x", "x"),
        ("<script>alert(1)</script>", "script-alert-1-script"),
        ("字幕隊", "字幕隊"),
        ("@+=", "instead"),
        ("Ｔｅａｍ", "Team"),
        ("a" * 300, "a" * 60),
        ("x\u202ey", "x-y"),
    ],
)
def test_names_of_files_have_letters_and_digits(name, slug):
    assert slug_of(name, "instead") == slug


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('metrics = "ciderr"', "ciderr"),
        ('metrics = "cider-d"\nrank_by = "rouge-l"', "rouge-l"),
        ('metrics = "vifidel"\nobjects = "../hidden/nothing.json"', "nothing"),
    ],
)
def test_a_contest_of_which_no_board_can_be_made_is_found_at_the_start(tmp_path, line, told):
    folder = make_contest(tmp_path)
    header = {"folder": str(folder)}
    run_here("sacrecap_server.contest.work:check", header, [], None)
    path = folder / "contest.toml"
    path.write_text(path.read_text().replace('metrics = "cider-d, bleu-4"', line))
    with pytest.raises(ChildFailedError, match=told):
        run_here("sacrecap_server.contest.work:check", header, [], None)
