"""The modules of pycocoevalcap 1.2 and of coco-caption, from which it comes, by the metrics here."""
