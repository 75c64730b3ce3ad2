"""Engines run scenarios. Whatever others need to know of one, it says itself."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.engines.field.engine import Field
from mptcplab.engines.kernel.engine import Kernel
from mptcplab.engines.simulation.engine import Simulation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.engine import Engine

#: What runs a scenario unless another one is asked for.
DEFAULT: Engine = Simulation()
#: All that there are, by name.
ENGINES: dict[str, Engine] = {one.name: one for one in (DEFAULT, Kernel(), Field())}


def named(name: str) -> Engine:
    """Give the engine of a name."""
    if name not in ENGINES:
        raise Error(f"there is no engine {name}; known: {', '.join(ENGINES)}")
    return ENGINES[name]


def for_programs() -> Engine:
    """Give the engine that runs programs as they are."""
    return next(one for one in ENGINES.values() if one.programs)
