"""Human studies: their file, how they are made from captions, the quality of their answers, and exports.

fields      reading JSON where every problem is listed, with its place
questions   what a page can ask                      kinds   the protocols, which ask them
design      the file of a study                      make    a file from references and systems
checks      when a person gets checks, and who fails them
plan        how many items and people are needed     joined  two studies of the same pairs
answers     what people answered                     aggregate    Dawid–Skene, Bradley–Terry
quality     agreement, people, order effects         export    answers as judgments, references, CSV
"""

from sacrecap_studies.kinds import KINDS, StudyKind

__all__ = ["KINDS", "StudyKind"]
