"""The original SPICE program: set up once by the user (`sacrecap spice setup`), then run as a subprocess.

The program (AGPL) and the parser in it (GPL) are not part of sacrecap: the user's command fetches and runs them.
"""

from sacrecap.resources.stanford.jars import VERSION
from sacrecap.resources.stanford.program import StanfordSpice

__all__ = ["VERSION", "StanfordSpice"]
