"""The metrics once more: slow, obvious, straight from the papers' formulas. The fast code is checked against these.

Captions are tokenised already: words with single blanks between. Every function takes the candidates and, for each of
them, its image's references, and returns the corpus score and the score of each image.
"""

Scores = tuple[float, list[float]]
