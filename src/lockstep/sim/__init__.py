"""The simulated node: a WinRM server that plays Windows nodes, with a small cluster API beside it.

from lockstep.sim import EmulatedEngine, NodeSpec, SimulatedNodes
"""

from lockstep.sim.farm import DEFAULT_PASSWORD, DEFAULT_USER, SimulatedNodes
from lockstep.sim.fresh import NodeSpec
from lockstep.sim.node import EmulatedEngine, StateError

__all__ = ["DEFAULT_PASSWORD", "DEFAULT_USER", "EmulatedEngine", "NodeSpec", "SimulatedNodes", "StateError"]
