"""The number of CPU threads of torch."""

from __future__ import annotations

import os


def one_thread() -> None:
    """Lets torch compute in one thread, which is fastest for small networks, unless OMP_NUM_THREADS is set.

    A step of Att2in takes three times as long with two threads as with one, and more on a busy machine: the threads
    wait for each other after each of its many small products.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        import torch

        torch.set_num_threads(1)
