"""Whether the server answers that it is ready: the health check of its image.

usage: check.py [URL]
"""

import sys
import urllib.request

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080/readyz"
try:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 (our own address)
        sys.exit(answer.status != 200)
except OSError as error:
    sys.exit(f"{url}: {error}")
