"""Which columns hold something about a person, in plain words: the page /privacy is made from this.

Every column of every table is either in `PERSONAL` or in `OTHER`; a test checks that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sacrecap_server.store.models import Base

PERSONAL = {
    "account.email": "e-mail address; the people of the same team and the administrators see it",
    "account.mailbox": "the mailbox that the address leads to, so that it has one account; then a hash, for quotas",
    "account.password": "password, as an Argon2id hash",
    "account.role": "role",
    "account.team_id": "team",
    "account.disabled": "whether the account is disabled",
    "account.created": "when it was made",
    "account.joined": "when the person came into the team",
    "account.captain": "whether the person was made the team's captain",
    "account.off_boards": "whether its submissions are shown on boards",
    "account.removed": "when it was deleted",
    "account.confirmed": "when the address was confirmed",
    "account.wanted_team": "name of the team to make, until the address is confirmed",
    "account.wanted_affiliation": "affiliation of that team",
    "external_identity.issuer": "address of the identity provider",
    "external_identity.subject": "what the provider calls the person",
    "external_identity.account_id": "account",
    "external_identity.created": "when it was linked",
    "signed_in.token_hash": "hash of the cookie",
    "signed_in.account_id": "account",
    "signed_in.created": "when the person signed in",
    "signed_in.expires": "when the sign-in ends",
    "api_token.account_id": "account",
    "api_token.name": "what the token is for, in its owner's words",
    "api_token.token_hash": "hash of the token",
    "api_token.hint": "first characters of the token",
    "api_token.created": "when it was made",
    "api_token.revoked": "when it was revoked",
    "api_token.scopes": "what it may do",
    "api_token.expires": "when it ends",
    "api_token.last_used": "when it was used last, to the hour",
    "one_time_code.code_hash": "hash of the link's code",
    "one_time_code.account_id": "account",
    "one_time_code.purpose": "what the link is for",
    "one_time_code.expires": "when it ends",
    "letter.address": "e-mail address",
    "letter.subject": "subject",
    "letter.text": "text",
    "letter.account_id": "account",
    "letter.purpose": "what its link is for",
    "letter.created": "when it was written",
    "rate_count.key": "hash of an account or an IP address",
    "rate_count.count": "how often something was tried",
    "invitation.created_by": "account that made it",
    "invitation.used_by": "account that used it",
    "invitation.created": "when it was made",
    "invitation.accepted": "when it was accepted",
    "rules_acceptance.account_id": "account",
    "rules_acceptance.team_id": "team",
    "rules_acceptance.accepted": "when the rules were accepted",
    "audit_entry.at": "when something was done",
    "audit_entry.account_id": "account that did it",
    "audit_entry.address": "IP address that it was done from",
    "audit_entry.action": "what was done",
    "audit_entry.subject": "on what: a number, or a name that people gave",
    "team.name": "name; public",
    "team.affiliation": "affiliation; public",
    "team.created": "when it was made",
    "team.waiting": "whether it waits for an administrator",
    "benchmark.host": "who organises the benchmark, in its owner's words; everybody sees it",
    "benchmark.owner_id": "account that owns the benchmark",
    "submission.account_id": "account that sent it",
    "submission.file_sha": "the file",
    "submission.file_name": "the file's name",
    "submission.system": "what the team calls its system; public where the board is",
    "submission.created": "when it was sent",
    "submission.disqualified": "why it was taken off the board",
    "quota_use.team_id": "team",
    "quota_use.account_id": "account",
    "quota_use.created": "when it was sent, or asked for",
    "study.owner_id": "account that owns the study",
    "study_member.account_id": "account that manages the study too",
    "study_member.since": "since when",
    "annotator.cookie_hash": "hash of the browser's cookie",
    "annotator.worker": "what the crowd platform calls the person",
    "annotator.platform_study": "the platform's number of its study",
    "annotator.platform_session": "the platform's number of the session",
    "annotator.platform_return": "the platform's address for the end of the work",
    "annotator.completion": "the code that shows that the person was there",
    "annotator.started": "when the person began",
    "annotator.items": "how many questions the person answered",
    "annotator.warned": "whether the person was warned",
    "annotator.excluded": "why the answers do not count",
    "annotator.ended": "how the person's part ended",
    "annotator.ended_at": "when it ended",
    "annotator.pages": "how many pages the person answered",
    "annotator.checks": "how many checks the person was given",
    "annotator.fast": "how many answers were too fast",
    "annotator.repeats": "how many answers repeat somebody's words",
    "annotator.cautions": "what the person was asked to mind",
    "annotator.pasted": "into how many answers something was pasted",
    "annotator.away": "during how many another window was in front",
    "annotator.place": "a hash of the internet address, to find those who began at the same one",
    "annotator.feedback": "how the last practice question was answered",
    "assignment.annotator_id": "person",
    "assignment.given": "when the question was shown",
    "assignment.answered": "when it was answered",
    "assignment.active_ms": "how long the page was in sight",
    "assignment.answer": "the answer",
    "assignment.correct": "whether it was right, on checks",
    "assignment.shown_order": "in which order the options stood",
    "assignment.too_fast": "whether it came sooner than the page can be read",
    "assignment.repeated": "whether somebody else had written the same",
    "assignment.fingerprint": "a hash of the sentence, to find repeated ones",
    "assignment.reason": "why the study's owner rejected it",
    "study_findings.body": "statistics of the answers, for each person too",
}
"""By `table.column`."""

OTHER = {
    "account": "id",
    "api_token": "id",
    "annotator": "id study_id practised lean check_lean wave",
    "assignment": "id study_id item_id state expires role group round",
    "audit_entry": "id",
    "benchmark": "id slug title description prize references_sha objects_sha metrics tokenizer images quota_day "
    "quota_total opens closes reopened board own_scores created rank_by revision visibility challenge phase rules "
    "rules_version most_degenerate most_same longest_words",
    "benchmark_split": "benchmark_id private_sha private_images seed",
    "blob": "sha256 size data",
    "comparison": "id a_id b_id created",
    "invitation": "id code_hash role team_id expires revoked",
    "job": "id kind subject_id share state progress message attempts runner lease created started finished due",
    "kept": "name value",
    "letter": "id attempts due",
    "quota_use": "id benchmark_id submission_id",
    "rate_count": "ends expires",
    "rules_acceptance": "benchmark_id version text_sha",
    "second_references": "benchmark_id references_sha part",
    "study": "id code kind title state judgments most_per_person minutes settings created closed seed wave",
    "study_findings": "study_id state computed",
    "study_image": "study_id image_id code url blob_sha media_type",
    "study_item": "id study_id role number group content answer taken shuffle because image_id",
    "study_member": "study_id",
    "submission": "id benchmark_id team_id scored baseline chosen",
    "submission_pair": "a_id b_id metric delta lower upper p part",
    "submission_score": "submission_id metric value lower upper signature part",
    "submission_statistics": "submission_id data",
    "team": "id name_key look_key empty_since",
    "webhook": "id benchmark_id url secret created",
    "webhook_delivery": "id webhook_id submission_id created attempts answer delivered due",
}
"""Columns by table, separated by blanks, that say nothing about a person, or only together with those above."""


@dataclass(frozen=True)
class Kind:
    """What people call the rows of a table, and how long the rows are kept."""

    title: str
    until: str
    """With `{…}` for a setting in days."""
    in_studies: bool = False
    """Whether the server of studies alone has such rows."""


KINDS = {
    "account": Kind("Your account", "Until you delete it, or an administrator does; then only its number stays."),
    "external_identity": Kind("Your account at an identity provider", "Until the account is deleted."),
    "signed_in": Kind(
        "Sign-ins", "Until you sign out, at most 14 days and one more until they are cleared.", in_studies=True
    ),
    "api_token": Kind("API tokens", "Until the account is deleted, revoked ones too.", in_studies=True),
    "one_time_code": Kind("Links that confirm an address or set a password", "Until they are used or expire."),
    "letter": Kind("Messages that wait to be sent", "Until they are sent, at most two days."),
    "rate_count": Kind("Counts of attempts", "Until the limit ends, at most 90 days.", in_studies=True),
    "invitation": Kind(
        "Invitations",
        "Those that nobody used: 30 days after they expire. Others as long as the server runs, as numbers.",
    ),
    "rules_acceptance": Kind("Rules of benchmarks that you accepted", "Until the account or the benchmark is deleted."),
    "audit_entry": Kind(
        "The audit log: who did what to accounts, benchmarks and studies",
        "Entries {keep_audit}, IP addresses {keep_addresses}. A deleted account is a number in it.",
        in_studies=True,
    ),
    "team": Kind("Teams", "Until the captain deletes the team."),
    "submission": Kind(
        "Submissions",
        "Until the team deletes them (before the benchmark closes), or its organiser does. They stay with the team "
        "when an account is deleted.",
    ),
    "quota_use": Kind(
        "Submissions, and comparisons that you asked for, as the quota counts them", "Until the benchmark is deleted."
    ),
    "benchmark": Kind("Benchmarks", "Until their owner deletes them."),
    "study": Kind("Studies", "Until their owner deletes them.", in_studies=True),
    "study_member": Kind(
        "Who manages a study with its owner", "Until the owner ends it, or the account or the study is deleted."
    ),
    "annotator": Kind(
        "People who answer studies",
        "Until the study's owner deletes the person or the study; ask whoever invited you. {keep_worker_ids}",
        in_studies=True,
    ),
    "assignment": Kind("Answers to studies", "As long as the person who gave them.", in_studies=True),
    "study_findings": Kind(
        "Statistics of a study's answers",
        "Until they are computed again after a change, or the study is deleted.",
        in_studies=True,
    ),
}
"""Tables with something about people."""


@dataclass(frozen=True)
class Stored:
    """What one table holds about people."""

    kind: Kind
    columns: list[str]
    """In words."""


def stored() -> Iterator[Stored]:
    """Everything about people that the tables of this server hold, in the order of `KINDS`."""
    for name, kind in KINDS.items():
        table = Base.metadata.tables.get(name)
        if table is not None:
            columns = [PERSONAL[f"{name}.{column.name}"] for column in table.c if f"{name}.{column.name}" in PERSONAL]
            yield Stored(kind, columns)


def undeclared() -> list[str]:
    """Columns that are in neither list, so that nobody has said whether they hold something about a person."""
    return [
        f"{table.name}.{column.name}"
        for table in Base.metadata.sorted_tables
        for column in table.c
        if f"{table.name}.{column.name}" not in PERSONAL and column.name not in OTHER.get(table.name, "").split()
    ]
