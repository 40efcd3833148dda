"""A server for tests.

world       the application in this process, and browsers that fill in forms
transport   requests to the application in this process
routes      every route, and what guards it
live        a command that serves, or a server of studies, in a process of its own
logs        what servers log, and what no log may say
elsewhere   another site, which frames pages and takes forms
translations  the catalogues of annotators' pages, brought up to date
ports       ports for both
"""
