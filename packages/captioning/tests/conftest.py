import torch

from environment import (
    browser,
    pytest_collection_modifyitems,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    shared,
    undrawn,
)

__all__ = [
    "browser",
    "pytest_collection_modifyitems",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "shared",
    "undrawn",
]

# Of networks as small as those of the tests, a second thread does little but wait, and waits busily.
torch.set_num_threads(1)
