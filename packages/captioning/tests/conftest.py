from environment import browser, pytest_runtest_makereport, pytest_runtest_setup, shared

__all__ = ["browser", "pytest_runtest_makereport", "pytest_runtest_setup", "shared"]
