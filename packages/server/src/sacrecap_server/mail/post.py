"""The queue of mail: rows that belong to the transaction of what they are about, and a thread that sends them.

A request never waits for a mail server, and never fails with it. What cannot be sent is tried again, at longer and
longer intervals, for about two days. A server that is killed between sending and noting it sends again after the lease.
The log names letters by number: never an address, a link or what the mail server said.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from urllib.parse import urlsplit

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from sacrecap_server.accounts.codes import Purpose, link
from sacrecap_server.mail.letters import SIGNATURE
from sacrecap_server.observability import Meters, event
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.settings.ways import Way, way
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, Letter, now

LEASE = dt.timedelta(minutes=2)
FIRST_PAUSE = dt.timedelta(seconds=30)
LONGEST_PAUSE = dt.timedelta(hours=6)
ATTEMPTS = 16
_POLL_SECONDS = 2.0


def queue(
    session: Session,
    settings: ServerSettings,
    to: Account | str,
    letter: tuple[str, str],
    purpose: Purpose | None = None,
) -> None:
    """Queues a letter in the caller's transaction; call `Post.wake` after it. Without mail settings nothing happens.

    With a purpose, `to` is an account, and the letter's `{link}` becomes a link with a code when it is sent.
    """
    if settings.mail == "none":
        return
    subject, text = letter
    account = to if isinstance(to, Account) else None
    session.add(
        Letter(
            address=account.email if account else to,
            account_id=account.id if account else None,
            subject=subject,
            text=text,
            purpose=purpose.value if purpose else "",
        )
    )


def host_of(settings: ServerSettings) -> str:
    """The server's name in letters."""
    return urlsplit(settings.url).netloc


class Post:
    """Sends what is queued, one letter at a time; several servers on one database share the work."""

    def __init__(self, database: Database, settings: ServerSettings, meters: Meters) -> None:
        self.database = database
        self.settings = settings
        self.meters = meters
        self.way: Way | None = way(settings.mail, settings.smtp_password)
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="post", daemon=True)

    def start(self) -> None:
        if self.way is not None:
            self._thread.start()

    def wake(self) -> None:
        """Tells the thread that there is something to send."""
        self._wake.set()

    def stop(self) -> None:
        """Ends the thread after the letter that it is sending."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if not self.run_one():
                    self._wake.wait(_POLL_SECONDS)
                    self._wake.clear()
            except Exception as error:  # noqa: BLE001  (the database may be away; the queue must survive it)
                event("mail.error", error=type(error).__name__)
                self._stopping.wait(_POLL_SECONDS)

    def run_one(self) -> bool:
        """Takes the letter that is due first, and sends it; False if none is due."""
        letter = self._take()
        if letter is None:
            return False
        assert self.way is not None
        started = time.monotonic()
        fields: dict[str, object] = {}
        try:
            message = self._message(letter)
            self.way.send(message, letter.address)
        except (OSError, ValueError) as error:
            outcome = self._failed(letter, error)
            # Type and status say what to look for; the text may hold the address.
            fields = {"error": type(error).__name__, "code": _code(error)}
        else:
            outcome = "sent"
            self._forget(letter.id)
        self.meters.letters.labels(outcome).inc()
        event("mail", letter=letter.id, outcome=outcome, seconds=round(time.monotonic() - started, 2), **fields)
        return True

    def _take(self) -> Letter | None:
        if self.way is None:
            return None
        due = select(Letter).where(Letter.due <= now()).order_by(Letter.due, Letter.id).limit(1)
        with self.database.read() as session:
            if session.execute(due).scalar_one_or_none() is None:
                return None
        with self.database.write() as session:
            letter = session.execute(due.with_for_update(skip_locked=True)).scalar_one_or_none()
            if letter is not None:
                letter.attempts += 1
                letter.due = now() + LEASE
            return letter

    def _message(self, letter: Letter) -> EmailMessage:
        text = letter.text
        if letter.purpose:
            assert letter.account_id is not None
            with self.database.write() as session:
                text = text.replace("{link}", link(session, self.settings, letter.account_id, Purpose(letter.purpose)))
        message = EmailMessage()
        message["From"] = self.settings.mail_sender
        message["To"] = Address(addr_spec=letter.address)
        message["Subject"] = letter.subject
        message["Date"] = format_datetime(now())
        message["Message-ID"] = make_msgid(domain=self.settings.mail_sender.rpartition("@")[2].rstrip(">"))
        # So that no holiday notice answers.
        message["Auto-Submitted"] = "auto-generated"
        text += SIGNATURE.format(host=self.settings.url)
        # As it is, where that is possible: a link is not broken over lines.
        message.set_content(text, cte="7bit" if text.isascii() else "quoted-printable")
        return message

    def _failed(self, letter: Letter, error: Exception) -> str:
        """Later again, unless the address is refused for good or it was tried long enough."""
        if _is_final(error) or letter.attempts >= ATTEMPTS:
            self._forget(letter.id)
            return "given up"
        pause = min(FIRST_PAUSE * 2 ** (letter.attempts - 1), LONGEST_PAUSE)
        with self.database.write() as session:
            session.execute(update(Letter).where(Letter.id == letter.id).values(due=now() + pause))
        return "later"

    def _forget(self, letter_id: int) -> None:
        with self.database.write() as session:
            session.execute(delete(Letter).where(Letter.id == letter_id))


def _code(error: Exception) -> int | None:
    """The mail server's status, where it gave one."""
    import smtplib

    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return next((code for code, _ in error.recipients.values()), None)
    code = getattr(error, "smtp_code", None)
    return code if isinstance(code, int) else None


def _is_final(error: Exception) -> bool:
    """Whether another attempt would end the same way: this message, or its address, is refused with a 5xx status.

    A refused sign-in or sender is a fault of the settings, which somebody may repair.
    """
    import smtplib

    refusals = (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError)
    return isinstance(error, ValueError) or (isinstance(error, refusals) and (_code(error) or 0) >= 500)
