from environment import (
    browser,
    metrics_of_a_test,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_ignore_collect,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_terminal_summary,
    shared,
    undrawn,
)

__all__ = [
    "browser",
    "metrics_of_a_test",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_ignore_collect",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_terminal_summary",
    "shared",
    "undrawn",
]
