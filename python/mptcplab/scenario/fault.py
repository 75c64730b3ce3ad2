"""What is wrong with a scenario, in one line."""

from mptcplab._core import Error

# The key path of a value: names of tables and keys, and indices in lists.
KeyPath = tuple[str | int, ...]


class ScenarioError(Error):
    """A scenario cannot be; says where and why."""
