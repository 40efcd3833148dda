"""Sources of public projects that compute what a module here computes, each by its `originals.fingerprint`.

They are of pycocoevalcap 1.2, tylin's and ruotianluo's coco-caption, ports of these to Python 3 and to captions of
sound, ruotianluo's cider, and the meshed-memory transformer. Each was compared with the first of its line, statement by
statement: only what changes no number differs, such as the form of a loop, or the encoding of a pipe.
"""

_SOURCES = {
    "pycocoevalcap.bleu.bleu": (
        "ae6a58892733 fdec753ce324 0a89caf9fbd6 9a7edbd7728e 0dc6cfcdb8f0 6f96552c8c21 451516e3718f"
    ),
    "pycocoevalcap.bleu.bleu_scorer": (
        "dfe900b5d0e8 1e6ebb01cafe 2b8979021552 856d561becad 78b28563bbed b91c02462fd4 238c98fc46ee 52d25bfdb544 "
        "979aff68d106 b5475ae449fc 2c9a6960f9dd d49ba137b1a7"
    ),
    "pycocoevalcap.cider.cider": "f660d5ac0d1d 8c189fec3998 23367b67e037 7a7bd5702fe6 705a41d7fff0",
    "pycocoevalcap.cider.cider_scorer": "f238d48b736f 091a28b31309 36bafd08c60b dca9669cce0f 50ca2a5cbc61",
    "pycocoevalcap.rouge.rouge": ("43c814df71c4 94dab799b44f 70f3a1615ec5 5f857dd69c9e 9beacb147a06 1b6a80b6b127"),
    "pycocoevalcap.meteor.meteor": ("153d8b8c374a e3f6c02564d3 9d105168888b e81fa907668d 46e55009dc21 2a452bea4af2"),
    "pycocoevalcap.meteor.by_id": "1a943034a743 84bf9a8283a5",
    "pycocoevalcap.spice.spice": (
        "7bd9dcbe329c 102192c0ab3e 6977d4babc3a 6909d1184220 7d30f5ac0d9e a5842de53f21 e82521c198c4 9707b90f89a7 "
        "80f4fa22ed30 82bc57756cd6 44e1082c0217"
    ),
    "pycocoevalcap.tokenizer.ptbtokenizer": (
        "361d3c66c743 24f9476dabca edd2ef70e8cd d4287f7af2eb 7301dde72957 682c822754bd e91aa8149a9b cf8d9fc92178 "
        "8b26db4ad901 069b40503129 9313dce5b2e7 029b41b25a6e"
    ),
    "pycocoevalcap.eval": "089503bbaf00 c82e3d8a956a",
    "pycocoevalcap.eval_spice": "f52723d8514a",
    "pyciderevalcap.cider.cider": "b8eab4b5a63b",
    "pyciderevalcap.cider.cider_scorer": "8a8213ab9bab",
    "pyciderevalcap.ciderD.ciderD": "772d01570eaf",
    "pyciderevalcap.ciderD.ciderD_scorer": "38d7425052a1",
    "pyciderevalcap.tokenizer.ptbtokenizer": "a168c2c085fb",
    "pyciderevalcap.eval": "c6eb72531712",
    "evaluation.bleu.bleu": "70441dd96f35",
    "evaluation.bleu.bleu_scorer": "e8790b969174",
    "evaluation.cider.cider": "66798cc599de",
    "evaluation.cider.cider_scorer": "d3dd4ac9d609",
    "evaluation.meteor.meteor": "b40c3bd24f2a",
    "evaluation.rouge.rouge": "b5f633e0c3b4",
    "evaluation.tokenizer": "f2410a07ad10",
}

KNOWN = {source: module for module, sources in _SOURCES.items() for source in sources.split()}
"""The module of `sacrecap.compat` by the fingerprint of a source."""
