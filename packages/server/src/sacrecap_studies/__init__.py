"""Human studies: their file, how they are made from captions, the quality of their answers, and exports.

field_reader  reading JSON where every problem is listed, with its place
questions     what a page can ask                     kinds      the protocols, which ask them
design        the file of a study                     make       a file from references and systems
checks        when a person gets checks, and who fails them
sample_size   how many items and people are needed    answers    what people answered, and files of it
quality       agreement, people, order effects        estimation intervals, α, Dawid–Skene, Bradley–Terry
"""

from sacrecap_studies.kinds import KINDS, StudyKind

__all__ = ["KINDS", "StudyKind"]
