"""Language models as judges of captions: `judge(rating)`, `judge(image)`, `judge(pairwise)`, `judge(pairwise-image)`."""
