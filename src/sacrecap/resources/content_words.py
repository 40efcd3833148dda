"""Content words of a caption: the words that fidelity metrics compare.

The function words are the 318 of scikit-learn's English stop list (BSD-3-Clause, scikit-learn developers), which the
published VIFIDEL script removes, so that one list serves both of the metric's variants. The list has oddities:
`fire`, `side` and `two` are in it.
"""

from __future__ import annotations

import re

_SCIKIT_LEARN = """
a about above across after afterwards again against all almost alone along already also although always am among
amongst amoungst amount an and another any anyhow anyone anything anyway anywhere are around as at back be became
because become becomes becoming been before beforehand behind being below beside besides between beyond bill both
bottom but by call can cannot cant co con could couldnt cry de describe detail do done down due during each eg eight
either eleven else elsewhere empty enough etc even ever every everyone everything everywhere except few fifteen
fifty fill find fire first five for former formerly forty found four from front full further get give go had has
hasnt have he hence her here hereafter hereby herein hereupon hers herself him himself his how however hundred i ie
if in inc indeed interest into is it its itself keep last latter latterly least less ltd made many may me meanwhile
might mill mine more moreover most mostly move much must my myself name namely neither never nevertheless next nine
no nobody none noone nor not nothing now nowhere of off often on once one only onto or other others otherwise our
ours ourselves out over own part per perhaps please put rather re same see seem seemed seeming seems serious several
she should show side since sincere six sixty so some somehow someone something sometime sometimes somewhere still
such system take ten than that the their them themselves then thence there thereafter thereby therefore therein
thereupon these they thick thin third this those though three through throughout thru thus to together too top
toward towards twelve twenty two un under until up upon us very via was we well were what whatever when whence
whenever where whereafter whereas whereby wherein whereupon wherever whether which while whither who whoever whole
whom whose why will with within without would yet you your yours yourself yourselves
"""

FUNCTION_WORDS: frozenset[str] = frozenset(_SCIKIT_LEARN.split())

_CONTRACTIONS = frozenset(["n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "'em", "ca", "wo"])
"""Parts that the tokenizer makes of contractions such as `can't` and `it's`."""

_SCRIPT_WORD = re.compile(r"\w\w+")


def is_content(token: str) -> bool:
    """Whether a token is a content word: it has a letter or a digit, and is not a function word."""
    word = token.lower()
    return word not in FUNCTION_WORDS and word not in _CONTRACTIONS and any(map(str.isalnum, word))


def script_words(text: str) -> list[str]:
    """The words of the published script: runs of two or more word characters, in lower case."""
    return _SCRIPT_WORD.findall(text.lower())
