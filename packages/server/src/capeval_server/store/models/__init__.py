"""The tables. Importing this module makes `Base.metadata` complete, which migrations and backups rely on."""

from capeval_server.store.models.accounts import Account, ApiToken, AuditEntry, Invitation, KeyValue, LoginSession, Team
from capeval_server.store.models.base import Base, now
from capeval_server.store.models.benchmarks import (
    Benchmark,
    BenchmarkSplit,
    ComparisonRequest,
    Submission,
    SubmissionPair,
    SubmissionScore,
    SubmissionStatistics,
)
from capeval_server.store.models.jobs import Blob, Job
from capeval_server.store.models.studies import Annotator, Assignment, Study, StudyImage, StudyItem

__all__ = [
    "Account",
    "Annotator",
    "ApiToken",
    "Assignment",
    "AuditEntry",
    "Base",
    "Benchmark",
    "BenchmarkSplit",
    "Blob",
    "ComparisonRequest",
    "Invitation",
    "Job",
    "KeyValue",
    "LoginSession",
    "Study",
    "StudyImage",
    "StudyItem",
    "Submission",
    "SubmissionPair",
    "SubmissionScore",
    "SubmissionStatistics",
    "Team",
    "now",
]
