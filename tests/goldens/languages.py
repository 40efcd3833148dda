"""Made-up sentences in METEOR's languages other than English: words in several of their forms, in any order.

A line below holds forms of one word. The forms are chosen for the endings that stemmers know, not for what they say.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from sacrecap._core import METEOR_LANGUAGES

FORMS = {
    "cz": """
        pes psa psi psů psem
        kočka kočky kočce kočku koček
        běží běžel běžela běžet
        velký velká velké velkého větší
        muž muži mužů mužem
        žena ženy ženě žen ženami
        ulice ulici ulicí ulicích
        na v u s přes pod
        Dr. např. tj. č. str. 3. 10.5""",
    "de": """
        Hund Hunde Hunden Hundes Hündin
        Katze Katzen Kätzchen
        läuft laufen lief gelaufen laufend laufende
        groß große großen großer größer größten
        Haus Häuser Häusern Hauses
        Erlebnis Erlebnisse Erlebnissen Erlebnisses Gefängnisse Gefängnissen
        Freundlichkeit freundlich freundliche freundlichen freundlichsten
        Wohnung Wohnungen Heizung Straße Straßen Strasse
        der die das dem den des ein eine einem
        auf in an neben mit hinter über
        Dr. z.B. d.h. Nr. usw. 3. 1.000,5 geht's""",
    "es": """
        perro perros perra perrito
        gato gata gatos gatitos
        corre corriendo corrió correr correrá corrían
        grande grandes grandísimo
        niño niña niños niñez
        rápidamente rápido rápida rápidos
        canción canciones cancionero nación nacional nacionales
        dámelo dándoselo comprarlo comprándola
        un una el la los las del al en sobre con
        Sr. Sra. Ud. EE.UU. pág. 1.000 ¿qué? ¡hola!""",
    "fr": """
        chien chiens chienne chiennes
        chat chats chatte chaton
        court courir courait courant courra couru
        grand grande grands grandes grandement
        heureux heureuse heureusement bonheur
        maison maisons maisonnette
        l'homme l'eau d'un d'une qu'il aujourd'hui s'est n'est j'ai quelqu'un
        nation nationale nationaux nationalité
        le la les un une des du sur dans avec
        M. Mme. Dr. etc. p.ex. 1er 2,5""",
    "ru": """
        собака собаки собаку собакой собакам
        кошка кошки кошек кошкой
        бежит бежал бежала бежать бегущий бегущая
        большой большая большие большого больший
        мужчина мужчины мужчиной
        красивый красивая красивейший красиво красота
        улица улицы улице улицам
        на в под с через у
        г. т.е. др. руб. ул. 5. Ёлка ёлки""",
    "da": """
        hund hunde hunden hundene hundens
        kat katte katten kattene
        løber løbe løb løbet løbende
        stor store større størst
        venlig venlige venligst venlighed
        pige piger pigen pigerne pigernes
        gade gader gaden strand stranden strande
        en et den det på i ved med over""",
    "hu": """
        kutya kutyák kutyát kutyának kutyával
        macska macskák macskát macskával
        fut futott futnak futni futó
        nő nők nőt nőnek erdő erdőben erdőből fű füvet fűben
        ház házak házban házból házról házakban
        nagy nagyobb legnagyobb nagyon
        szép szépen szépség õsz ûr örömével
        a az egy és van alatt mellett""",
    "it": """
        cane cani cagna cagnolino
        gatto gatti gatta gattini
        corre correre correva correndo corso corsero
        grande grandi grandissimo grandemente
        bambino bambini bambina bambine
        velocemente veloce veloci velocità
        nazione nazioni nazionale nazionali perché città
        mandarglielo dandogli vederlo
        un una il lo la i gli le su in con""",
    "nl": """
        hond honden hondje hondjes
        kat katten katje poes poezen
        loopt lopen liep gelopen lopend lopende
        groot grote groter grootste grootheid
        vriendelijk vriendelijke vriendelijkheid mogelijkheden
        huis huizen huisje café cafés
        straat straten straatje één geïnteresseerd
        een de het op in aan naast met""",
    "no": """
        hund hunder hunden hundene hundens
        katt katter katten kattene
        løper løpe løp løpende
        stor store større størst
        vennlig vennlige vennligst vennlighet
        jente jenter jenta jentene jentenes
        gate gater gaten strand stranden
        en et den det på i ved med over""",
    "pt": """
        cão cães cadela cachorro cachorros
        gato gatos gata gatinha
        corre correr correu correndo correrá corriam
        grande grandes grandíssimo
        solução soluções evolução revoluções instituição
        rapidamente rápido rápida rápidos
        menino meninos menina meninas
        um uma o a os as em no na sobre com""",
    "ro": """
        câine câini câinele câinilor
        pisică pisici pisicile pisicilor
        aleargă alerga alergând alergat alergau
        mare mari marele măreție
        frumos frumoasă frumoși frumoase
        băiat băieți băiatul băieților fată fete fetele
        stradă străzi strada națiune naţional naționale
        un o pe în la cu lângă""",
    "se": """
        hund hundar hunden hundarna hundens
        katt katter katten katterna
        springer springa sprang springande sprungit
        stor stora större störst
        vänlig vänliga vänligt vänlighet
        flicka flickor flickan flickorna
        gata gator gatan strand stranden löst fullt
        en ett den det på i vid med över""",
    "tr": """
        köpek köpekler köpeği köpekten köpeklerin
        kedi kediler kediyi kedisi kedilerin
        koşuyor koşmak koştu koşan koşarak
        büyük büyükler büyüğü büyükçe
        ev evler evde evden evlerimiz evlerinizden
        çocuk çocuklar çocuğu çocuklara
        sokak sokakta sokağı İstanbul ışık ışıklar
        bir bu şu ve ile üzerinde altında""",
    "other": """
        koira koirat koiran koiralla
        kissa kissat kissan
        juoksee juosta juoksi
        suuri suuret suurella ÄITI äiti
        pies psy psem kot koty
        i w na z pod""",
}
"""Forms of words by METEOR's name of the language; one word per line."""

MARKS = (".", ",", "!", "?", ";", '"', "-", "(", ")", "...", "\N{EN DASH}", "\N{RIGHT SINGLE QUOTATION MARK}")


@dataclass(frozen=True)
class Language:
    """A language with words enough for sentences."""

    code: str
    normalised: bool
    """Whether the program cuts marks from words; it only lower-cases the other languages."""
    phrases: bool
    """Whether it looks for paraphrases."""
    tasks: tuple[str, ...]

    def words(self) -> list[list[str]]:
        return [line.split() for line in FORMS[self.code].strip().splitlines()]

    def paraphrases(self) -> str | None:
        """A table in the program's format: of each word's forms the first is a phrase of the next two, and back."""
        if not self.phrases:
            return None
        pairs = [(word[0], " ".join(word[1:3])) for word in self.words()]
        return "".join(f"0.5\n{one}\n{other}\n0.25\n{other}\n{one}\n" for one, other in pairs).lower()

    def item(self, chance: random.Random) -> tuple[str, list[str]]:
        """A candidate, and references that have other forms of its words."""
        words = [chance.choice(self.words()) for _ in range(chance.randint(3, 10))]
        return self._sentence(chance, words), [self._sentence(chance, words) for _ in range(chance.randint(1, 3))]

    def _sentence(self, chance: random.Random, words: list[list[str]]) -> str:
        words = [*words]
        for _ in range(chance.randint(0, 3)):
            words.insert(chance.randrange(len(words)), words.pop(chance.randrange(len(words))))
        said: list[str] = []
        for forms in words:
            said += forms[1:3] if self.phrases and chance.random() < 0.1 else [chance.choice(forms)]
            if chance.random() < 0.1:
                said[-1] += chance.choice(MARKS)
        text = " ".join(said)
        return text[0].upper() + text[1:] + chance.choice((".", " .", ""))


def _languages() -> Iterator[Language]:
    for code, prefixes, modules, tasks in METEOR_LANGUAGES:
        if code in FORMS:
            yield Language(code, prefixes is not None, "paraphrase" in modules, tuple(task for task, _ in tasks))


LANGUAGES = tuple(_languages())
