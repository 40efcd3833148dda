"""Sources of public projects that compute what a module here computes, each by its `originals.fingerprint`.

They are of pycocoevalcap 1.2, tylin's and ruotianluo's coco-caption, ports of these to Python 3 and to captions of
sound, and ruotianluo's cider. Each was compared with the first of its line, statement by statement: only what changes
no number differs, such as the form of a loop, or the encoding of a pipe.
"""

_SOURCES = {
    "pycocoevalcap.bleu.bleu": (
        "0bc5da6801ca c22380101f8f 18f609e38966 91cc2fa35801 38d710cbd11b f677c44532ff 1b1aeb046387"
    ),
    "pycocoevalcap.bleu.bleu_scorer": (
        "44f16cb4b7d5 0eb53dc471b7 779bd9ce0aeb 856d561becad 799776bc38b8 493b3d7ffb18 16328cc5cdda 325303f1cff9 "
        "beacfe97ea50 5ac6673e2ce9 9f4bae5709ef 420940da5c95"
    ),
    "pycocoevalcap.cider.cider": "2ed83cbffe64 41410d5395ab e3165b8fa5b3 ba9685218799 4c17ab5eb49f",
    "pycocoevalcap.cider.cider_scorer": "aa7198f52078 4c3845292a54 fd3367aa080f de6534dd5f56 4770ecfd5724",
    "pycocoevalcap.rouge.rouge": "f3a078a819b7 77b7a41f70c8 770651eec057 1da5ef5fdd61 0eeafdf3d2d4 041a913a1029",
    "pycocoevalcap.meteor.meteor": "6e29b85af113 39a600698348 29e431b11093 cc92409a2c0c 29a9b4c7ed70 e389e721c183",
    "pycocoevalcap.meteor.by_id": "2a453ed82454 e14619dba01b",
    "pycocoevalcap.spice.spice": (
        "be9638704039 182e5b6fa4a0 2007bc838f56 a8a814f201df 91fadcfa5eb5 5723017526a1 119f65fa4a30 6657bdfc5f47 "
        "c0dd439e0c1c 5e7111e1623a 109d05798932"
    ),
    "pycocoevalcap.tokenizer.ptbtokenizer": (
        "ddf2ac2a60c2 88da7571a9a0 df773a0ca84d ebc5b866a913 f5767a3da933 66327d927eed 5a6432b4f784 6caa77d9bb7f "
        "a6aa33a7f39f 1f0280796945 f97c9d175e61 0c82dbc4156b"
    ),
    "pycocoevalcap.eval": "8df918b6e04c c82e3d8a956a",
    "pycocoevalcap.eval_spice": "0a146d265f34",
    "pyciderevalcap.cider.cider": "5557025c9e74",
    "pyciderevalcap.cider.cider_scorer": "066fdb1f8afd",
    "pyciderevalcap.ciderD.ciderD": "9c06ee8c5d6b",
    "pyciderevalcap.ciderD.ciderD_scorer": "8474f735cc42",
    "pyciderevalcap.tokenizer.ptbtokenizer": "4e7f52c75363",
    "pyciderevalcap.eval": "bc82735ea87e",
}

KNOWN = {source: module for module, sources in _SOURCES.items() for source in sources.split()}
"""The module of `sacrecap.compat` by the fingerprint of a source."""
