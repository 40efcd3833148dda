"""The tables. Importing this module makes `Base.metadata` complete, which migrations and backups rely on."""

from capeval.server.models.accounts import Account, ApiToken, AuditEntry, Invitation, Kept, SignedIn, Team
from capeval.server.models.base import Base, now
from capeval.server.models.benchmarks import Benchmark, Comparison, Submission, SubmissionPair, SubmissionScore
from capeval.server.models.jobs import Blob, Job
from capeval.server.models.studies import Annotator, Assignment, Study, StudyImage, StudyItem

__all__ = [
    "Account",
    "Annotator",
    "ApiToken",
    "Assignment",
    "AuditEntry",
    "Base",
    "Benchmark",
    "Blob",
    "Comparison",
    "Invitation",
    "Job",
    "Kept",
    "SignedIn",
    "Study",
    "StudyImage",
    "StudyItem",
    "Submission",
    "SubmissionPair",
    "SubmissionScore",
    "Team",
    "now",
]
