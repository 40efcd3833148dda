import os

from command_line import run

__all__ = ["run"]

# POT, a reference of tests here, loads PyTorch where it finds it, which takes seconds.
os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")
