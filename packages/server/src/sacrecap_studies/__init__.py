"""Human studies: their file, how they are made from captions, the quality of their answers, and exports.

fields      reading JSON where every problem is listed, with its place
kinds       what the four kinds of study share       choice, diversity, collection     the kinds themselves
design      the file of a study                      make    a file from references and systems
schedule    when a person gets checks
answers     what people answered                     aggregate    Dawid–Skene, Bradley–Terry
quality     agreement, people, order effects         export    answers as judgments, references, CSV
"""

from sacrecap_studies.choice import PairwiseStudy, TripletStudy
from sacrecap_studies.collection import CollectionStudy
from sacrecap_studies.diversity import DiversityStudy
from sacrecap_studies.kinds import StudyKind

KINDS: dict[str, StudyKind] = {
    kind.name: kind for kind in (TripletStudy(), PairwiseStudy(), DiversityStudy(), CollectionStudy())
}
"""The kinds of study by name."""

__all__ = ["KINDS", "StudyKind"]
