"""Human studies: their file, how they are made from captions, how good their answers are, and what they become.

fields      reading JSON where every problem is listed, with its place
kinds       what the four kinds of study share       choice, diversity, collection     the kinds themselves
design      the file of a study                      make    a file from references and systems
answers     what people answered                     aggregate    Dawid–Skene, Bradley–Terry
quality     agreement, people, order effects         export    answers as judgments, references, CSV
"""

from capeval_studies.choice import Pairwise, Triplet
from capeval_studies.collection import Collection
from capeval_studies.diversity import Diversity
from capeval_studies.kinds import Kind

KINDS: dict[str, Kind] = {kind.name: kind for kind in (Triplet(), Pairwise(), Diversity(), Collection())}
"""The kinds of study by name."""

__all__ = ["KINDS", "Kind"]
