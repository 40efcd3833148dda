"""Sources of public projects that compute what a module here computes, each by its `originals.fingerprint`.

They are of pycocoevalcap 1.2, tylin's and ruotianluo's coco-caption, ports of these to Python 3 and to captions of
sound, ruotianluo's cider, and the meshed-memory transformer. Each was compared with the first of its line, statement by
statement: only what changes no number differs, such as the form of a loop, or the encoding of a pipe.
"""

_SOURCES = {
    "pycocoevalcap.bleu.bleu": (
        "ae6a58892733 fdec753ce324 0a89caf9fbd6 9a7edbd7728e 0dc6cfcdb8f0 3f692f7e1718 c89575a8e225"
    ),
    "pycocoevalcap.bleu.bleu_scorer": (
        "63a3a46b612a 055ee157c9c9 f8eec4dce261 856d561becad 946735447887 67097591e1a3 05d0abaf6a42 2a52adf29b93 "
        "e61f4353f8c0 3e34a78984a1 94e260c69e57 9021c4dbbda4"
    ),
    "pycocoevalcap.cider.cider": "f660d5ac0d1d 8c189fec3998 23367b67e037 9a13a90f60a2 44d7ffa73ed5",
    "pycocoevalcap.cider.cider_scorer": "e96b059d1552 db339c6f046b ac61ca3bf259 378cd6f9559f 2c116c680544",
    "pycocoevalcap.rouge.rouge": ("43c814df71c4 94dab799b44f 70f3a1615ec5 34b6edeaccf6 911ec70a55a2 1b6a80b6b127"),
    "pycocoevalcap.meteor.meteor": "153d8b8c374a e3f6c02564d3 9d105168888b e81fa907668d 46e55009dc21 8620b0994b98",
    "pycocoevalcap.meteor.by_id": "1a943034a743 84bf9a8283a5",
    "pycocoevalcap.spice.spice": (
        "7bd9dcbe329c 102192c0ab3e 6977d4babc3a 6909d1184220 7d30f5ac0d9e a5842de53f21 e82521c198c4 9707b90f89a7 "
        "80f4fa22ed30 82bc57756cd6 44e1082c0217"
    ),
    "pycocoevalcap.tokenizer.ptbtokenizer": (
        "361d3c66c743 24f9476dabca edd2ef70e8cd d4287f7af2eb 7301dde72957 682c822754bd e91aa8149a9b cf8d9fc92178 "
        "8b26db4ad901 069b40503129 62b6f8c8c7de 029b41b25a6e"
    ),
    "pycocoevalcap.eval": "089503bbaf00 c82e3d8a956a",
    "pycocoevalcap.eval_spice": "f52723d8514a",
    "pyciderevalcap.cider.cider": "b8eab4b5a63b",
    "pyciderevalcap.cider.cider_scorer": "66873a4d729d",
    "pyciderevalcap.ciderD.ciderD": "772d01570eaf",
    "pyciderevalcap.ciderD.ciderD_scorer": "6727791161ee",
    "pyciderevalcap.tokenizer.ptbtokenizer": "a168c2c085fb",
    "pyciderevalcap.eval": "c6eb72531712",
    "evaluation.bleu.bleu": "70441dd96f35",
    "evaluation.bleu.bleu_scorer": "ba1d34b9591a",
    "evaluation.cider.cider": "66798cc599de",
    "evaluation.cider.cider_scorer": "5192dff359e3",
    "evaluation.meteor.meteor": "b40c3bd24f2a",
    "evaluation.rouge.rouge": "b5f633e0c3b4",
    "evaluation.tokenizer": "815a6f6ae7a4",
}

KNOWN = {source: module for module, sources in _SOURCES.items() for source in sources.split()}
"""The module of `sacrecap.compat` by the fingerprint of a source."""
