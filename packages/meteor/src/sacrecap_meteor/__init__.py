"""The tables of METEOR 1.5: function words, abbreviations, synonyms and English paraphrases. Data alone.

They are those of the program by Michael Denkowski and Alon Lavie, under the GNU LGPL 2.1; the synonyms are of WordNet,
under its own licence. Both licences are in the package's folder. `sacrecap` reads the installed tables.
"""

__version__ = "1.5.0"
"""METEOR's version, and the number of the edition of these files."""
