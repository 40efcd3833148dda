"""E-mail: what is written (`letters`), by which way it leaves (`ways`), and the queue between them (`post`)."""
