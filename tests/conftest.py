from environment import (
    browser,
    pytest_ignore_collect,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    shared,
)

__all__ = ["browser", "pytest_ignore_collect", "pytest_runtest_makereport", "pytest_runtest_setup", "shared"]
