"""Made-up captions that record how the original programs cut, align and score text: words, marks and signs at random.

Every list below is one that some rule of those programs looks at; what the captions say is of no interest.
"""

from __future__ import annotations

import random


def _listed(text: str) -> list[str]:
    return text.split(" ")


ADJECTIVES = _listed("big large huge tiny small red brown old young happy glad busy quiet wet shiny")
NOUNS = _listed(
    "dog dogs puppy man men guy woman women child children kid horse horses bicycle bike car cars street road bus "
    "train beach shore sea cat kitten sofa couch table desk pizza sandwich plate ball geese goose wolf wolves city "
    "cities"
)
VERBS = _listed(
    "runs ran running rides riding rode sits sitting sat stands standing stood jumps leaping eats eating ate holds "
    "holding looks watching carries carrying throws sleeping is are was walks walked"
)
PLACES = _listed("on in at near under over behind beside with without along across through next-to")
ARTICLES = _listed("a the an one two some several many this that his her its")

CONTRACTIONS = _listed(
    "isn't can't won't didn't cannot I'm you're he's they've she'd we'll o'clock y'all 'tis 'twas gonna wanna gotta "
    "d'ye more'n dogs' women's the'60s rock'n'roll ain't could've James's"
)
ABBREVIATIONS = _listed(
    "U.S. U.K. N.Y. T.V. a.m. p.m. Mr. Mrs. Dr. St. Jr. Inc. Corp. etc. e.g. i.e. vs. No. Ave. approx. J. c. ft. in. "
    "Jan. Sept. Ph.D. B.C. L.A. u.s.a."
)
NUMBERS = _listed(
    "3 12 1,000 1,000,000 3.5 .5 1/2 3/4 2-3 10:30 24/7 50% 5th 21st 1990s '90s 3D 4x4 12-year-old -7 +5 #1 No.5 007 "
    "1.2.3 555-1234 (555)123-4567 12/31/1999 2nd-hand 6'2\" 100km/h 1\N{NO-BREAK SPACE}1/2 \N{VULGAR FRACTION ONE HALF}"
)
SIGNS = _listed(
    "& @ # * + = / \\ | ~ ^ _ < > % $ $20 \N{POUND SIGN}5 \N{EURO SIGN}9.99 \N{YEN SIGN}100 US$5 \N{CENT SIGN} "
    "\N{DEGREE SIGN} \N{TRADE MARK SIGN} \N{COPYRIGHT SIGN} \N{SECTION SIGN} R&B AT&T and/or w/ b/c :) :-( ;-) <3 :D "
    "&amp; &lt; &quot; <b> </b> <br/> <!-- --> [1] {x}"
)
MARKS = _listed(
    ". , ; : ! ? ... .. .... -- --- - \N{EN DASH} \N{EM DASH} \N{HORIZONTAL ELLIPSIS} ' '' \" ` `` ( ) [ ] { } ?! !! "
    "\N{LEFT DOUBLE QUOTATION MARK} \N{RIGHT DOUBLE QUOTATION MARK} \N{LEFT SINGLE QUOTATION MARK} "
    "\N{RIGHT SINGLE QUOTATION MARK} \N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK} \N{BULLET}"
)
FOREIGN = _listed(
    "café naïve façade jalapeño Zürich smörgåsbord Øresund Łódź ﬁsh straße İstanbul собака Москва σκύλος כלב كلب 狗 犬 "
    "ラーメン 강아지 ไก่ कुत्ता 🐕 👩‍🚒 ❤️ 🇫🇷 e\u0301te\u0301 ½cup m² H₂O Ⅳ ① x̄ ﷽ ª º"
)
NAMES = _listed(
    "McDonald's O'Neill Coca-Cola iPhone YouTube JPEG photo.jpg http://example.org/a?b=c www.example.com "
    "someone@example.com @user #hashtag C++ C# .NET AC/DC Jean-Luc x-ray T-shirt e-mail mother-in-law state-of-the-art"
)
BLANKS = ("  ", "\t", "\N{NO-BREAK SPACE}", "\N{THIN SPACE}", "\N{IDEOGRAPHIC SPACE}", "\N{ZERO WIDTH SPACE}", " ")
ODD = (CONTRACTIONS, ABBREVIATIONS, NUMBERS, SIGNS, MARKS, FOREIGN, NAMES)


def plain(chance: random.Random) -> list[str]:
    """The words of a caption as people write it."""
    words = []
    for _ in range(chance.randint(1, 3)):
        words += [chance.choice(ARTICLES), *chance.sample(ADJECTIVES, chance.randint(0, 2)), chance.choice(NOUNS)]
        words += [chance.choice(VERBS), *[chance.choice(PLACES)] * chance.randint(0, 1)]
    return [*words, chance.choice(ARTICLES), chance.choice(NOUNS)]


def odd(chance: random.Random) -> str:
    """A caption with things that a tokenizer stumbles over, some of them glued to their neighbours."""
    words = plain(chance)[: chance.randint(1, 9)]
    for _ in range(chance.randint(0, 4)):
        words.insert(chance.randint(0, len(words)), chance.choice(chance.choice(ODD)))
    text = words[0]
    for word in words[1:]:
        text += chance.choices((" ", "", chance.choice(BLANKS)), (40, 4, 1))[0] + word
    text += chance.choice((".", "", "", " .", "!", "..."))
    return chance.choice((str, str, str.capitalize, str.upper, str.title))(text)


def edited(chance: random.Random, words: list[str]) -> list[str]:
    """The words with a few moved, dropped, repeated or replaced."""
    words = [*words]
    for _ in range(chance.randint(0, 5)):
        place = chance.randrange(len(words))
        match chance.randrange(4):
            case 0:
                words.insert(place, chance.choice(words))
            case 1 if len(words) > 1:
                del words[place]
            case 2:
                words.insert(chance.randrange(len(words)), words.pop(place))
            case _:
                words[place] = chance.choice(chance.choice((ADJECTIVES, NOUNS, VERBS, PLACES, ARTICLES)))
    return words
