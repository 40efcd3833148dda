"""A file that a team sends, from its checks to the queue: for the page, and for the API."""

from __future__ import annotations

from dataclasses import replace

from sacrecap_server.accounts import names
from sacrecap_server.boards import uploads
from sacrecap_server.boards.catalogue import find
from sacrecap_server.store.models import Submission
from sacrecap_server.web.context import RequestContext

LARGE = 8 * 2**20
"""A file above this size counts against the limit of large files; COCO's test set with long captions has 5 MiB."""


def receive(context: RequestContext, slug: str, upload: uploads.Upload) -> tuple[Submission, bool]:
    """Checks a file completely, outside any transaction, and queues it: the submission, and whether it is new.

    Raises `Refused` with every problem of the file, or where the benchmark, the quota or the limits say no. To be
    called in the upload room's threads: the check takes time and memory.
    """
    limits = context.state.limits
    limits.submit_account.take(str(context.caller.account_id))
    if len(upload.data) > LARGE:
        limits.submit_large.take(str(context.caller.account_id))
    upload = replace(upload, system=names.tidy(upload.system))
    with context.database.read() as session:
        benchmark = find(session, context.caller, slug)
        uploads.check_allowed(session, context.caller, benchmark, baseline=upload.baseline)
        images = context.state.image_ids.of(session, benchmark)
    uploads.check_upload(benchmark, images, upload, context.state.uploads.examination)
    with context.database.write() as session:
        submission, new = uploads.submit(session, context.caller, benchmark, upload)
        if new:
            context.audit(session, "submitted", f"{slug} {submission.id}{' baseline' if upload.baseline else ''}")
    context.state.jobs.wake()
    return submission, new
