"""The modules of the CIDEr code that training programs import, by the metrics here."""
