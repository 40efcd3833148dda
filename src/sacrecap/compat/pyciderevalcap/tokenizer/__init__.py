"""The COCO suite's tokenizer."""
