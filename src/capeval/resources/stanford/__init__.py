"""The original SPICE program: set up once by the user (`capeval spice setup`), then run as a subprocess.

The program (AGPL) and the parser in it (GPL) are not part of capeval: the user's command fetches and runs them.
"""

from capeval.resources.stanford.parts import VERSION
from capeval.resources.stanford.program import StanfordSpice

__all__ = ["VERSION", "StanfordSpice"]
