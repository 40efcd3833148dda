"""Runs a program only as long as its parent exists: a script between the parent and the program.

    python keeper.py FOLDER COMMAND…

The parent holds this process's standard input. When it closes, because the parent closes it or ends for any reason,
the command is killed, with all processes that it started, and FOLDER, which holds its files, is removed. The number of
the command's process goes to standard output, and its status when it ends by itself; then the parent removes the
folder.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading


def main() -> None:
    """Runs the command."""
    folder, command = sys.argv[1], sys.argv[2:]
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=folder, start_new_session=True
        )
    except OSError as error:
        print(error, file=sys.stderr)
        print("0\n127", flush=True)
    else:
        print(child.pid, flush=True)
        threading.Thread(target=_kill_when_released, args=(child, folder)).start()
        status = child.wait()
        with contextlib.suppress(OSError):
            print(status, flush=True)


def _kill_when_released(child: "subprocess.Popen[bytes]", folder: str) -> None:
    sys.stdin.read()
    if child.poll() is not None:
        return
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            # In its own session, and so the head of a group: `java` may be a script that starts the real one.
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
