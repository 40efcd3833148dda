"""Language models as judges: `judge(rating)`, `judge(image)`, `judge(pairwise)` and `judge(pairwise-image)`."""
