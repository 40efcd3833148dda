"""The captions that these tests score."""

from __future__ import annotations

CANDIDATES = {
    "1": "a dog runs along the beach",
    "2": "two birds and a red bus .",
    "3": "",
    "4": "the cats in the city",
    "5": "zebras, two of them",
    "6": "dog",
}
REFERENCES = {
    "1": ["a brown dog running on the beach", "the dog runs"],
    "2": ["two birds on a bus", "a long yellow bus"],
    "3": ["a dog", "two cats"],
    "4": ["cats in a city", "the dogs"],
    "5": ["!"],
    "6": ["dog", "a dog"],
}
LONG = " ".join(["the dog runs and runs"] * 20)
