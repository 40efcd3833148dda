"""Language models as judges: `judge(rating)`, `judge(image)`, `judge(pairwise)`, `judge(rubric)`."""
