"""A server for tests and benchmarks.

world       the application in this process, with an account of each role; browsers that fill in forms
transport   requests to the application in this process
benchmark   a benchmark of the example data, and teams that submit to it
live        `sacrecap serve` in a process of its own
logs        what servers log, and what no log may say
elsewhere   another site, which frames pages and takes forms
translations  the catalogues of annotators' pages, brought up to date
postgres    a PostgreSQL cluster in a temporary folder
ports       ports for both
"""
