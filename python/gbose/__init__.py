"""Contextual bandits for rewards that move for reasons you do not model.

    reward = b @ mu + v + noise

where b are the features of the arm played, mu is what is to be learned, and v is whatever moves all arms of a round
alike. See Bandit for the everyday use, simulate() for studies, gbose.adapters for the calling conventions of other
packages.
"""

from ._bandit import Bandit, load
from ._decision import Decision, Decisions, Ticket, read_ticket
from ._diagnosis import Diagnosis, Effect
from ._effects import Effects
from ._errors import Error
from ._gbose import ffi as _ffi
from ._gbose import lib as _lib
from ._log import Audit, Evaluation, Interval, effects, evaluate
from ._results import Difference, Study, Summary
from ._schema import Schema
from ._study import simulate
from ._table import Info, Option, learners, worlds
from ._trial import wcls
from ._world import Round, World
from .client import Client, ServiceError

__version__: str = _ffi.string(_lib.gbose_version()).decode()

__all__ = [
    "Audit",
    "Bandit",
    "Client",
    "Decision",
    "Decisions",
    "Diagnosis",
    "Difference",
    "Effect",
    "Effects",
    "Error",
    "Evaluation",
    "Info",
    "Interval",
    "Option",
    "Round",
    "Schema",
    "ServiceError",
    "Study",
    "Summary",
    "Ticket",
    "World",
    "effects",
    "evaluate",
    "learners",
    "load",
    "read_ticket",
    "simulate",
    "wcls",
    "worlds",
]
