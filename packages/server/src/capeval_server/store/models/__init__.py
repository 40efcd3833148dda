"""The tables. Importing this module makes `Base.metadata` complete, which migrations and backups rely on."""

from capeval_server.store.models.accounts import (
    Account,
    ApiToken,
    AuditEntry,
    Invitation,
    KeyValue,
    Letter,
    LoginSession,
    OneTimeCode,
    RateCount,
    ExternalIdentity,
    Invitation,
    KeyValue,
    LoginSession,
    Team,
)
from capeval_server.store.models.base import Base, now
from capeval_server.store.models.benchmarks import (
    Benchmark,
    ComparisonRequest,
    RemovedSubmission,
    Submission,
    SubmissionPair,
    SubmissionScore,
)
from capeval_server.store.models.jobs import Blob, Job
from capeval_server.store.models.studies import (
    Annotator,
    Assignment,
    Study,
    StudyFindings,
    StudyImage,
    StudyItem,
    StudyMember,
)

__all__ = [
    "Account",
    "Annotator",
    "ApiToken",
    "Assignment",
    "AuditEntry",
    "Base",
    "Benchmark",
    "Blob",
    "ComparisonRequest",
    "ExternalIdentity",
    "Invitation",
    "Job",
    "KeyValue",
    "Letter",
    "LoginSession",
    "OneTimeCode",
    "RateCount",
    "RemovedSubmission",
    "Study",
    "StudyFindings",
    "StudyImage",
    "StudyItem",
    "StudyMember",
    "Submission",
    "SubmissionPair",
    "SubmissionScore",
    "Team",
    "now",
]
