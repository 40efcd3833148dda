from environment import (
    browser,
    metrics_of_a_test,
    pytest_ignore_collect,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    shared,
)

__all__ = [
    "browser",
    "metrics_of_a_test",
    "pytest_ignore_collect",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "shared",
]
