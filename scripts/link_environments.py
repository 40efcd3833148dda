"""Makes the packages of other environments visible in the one whose Python runs this, after its own.

usage: link_environments.py ENVIRONMENT...

The linters read the types of what the members use, without installing it again.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def main() -> None:
    """Writes one `.pth` file, which Python obeys at each start."""
    here = Path(sysconfig.get_path("purelib"))
    inside = here.relative_to(sys.prefix)  # of every environment of the same Python
    folders = [str((Path(environment) / inside).resolve()) for environment in sys.argv[1:]]
    lines = "".join(f"import site; site.addsitedir({folder!r})\n" for folder in folders)
    (here / "other_environments.pth").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
