"""The tables. Importing this module makes `Base.metadata` complete: what `Database.prepare` makes."""

from sacrecap_server.store.models.declarative_base import Base as Base
from sacrecap_server.store.models.declarative_base import now as now
from sacrecap_server.store.models.server import Blob as Blob
from sacrecap_server.store.models.server import KeyValue as KeyValue
from sacrecap_server.store.models.server import SignedIn as SignedIn
from sacrecap_server.store.models.studies import Annotator as Annotator
from sacrecap_server.store.models.studies import Assignment as Assignment
from sacrecap_server.store.models.studies import Study as Study
from sacrecap_server.store.models.studies import StudyFindings as StudyFindings
from sacrecap_server.store.models.studies import StudyImage as StudyImage
from sacrecap_server.store.models.studies import StudyItem as StudyItem
