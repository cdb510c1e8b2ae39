"""The colours of learners: those of the command's figures (src/report/plot.c), so that one learner looks alike everywhere."""

from __future__ import annotations

from typing import NamedTuple, Sequence

COLOURS = {
    "gbose-auto": "#B00020",
    "gbose": "#0072B2",
    "bose": "#009E73",
    "action-ts": "#CC79A7",
    "semi-ts": "#E69F00",
    "lin-ts": "#56B4E9",
    "lin-ucb": "#707070",
    "eps-greedy": "#D55E00",
    "uniform": "#8C6D31",
}
OTHERS = ["#332288", "#44AA99", "#AA4499", "#999933", "#882255", "#117733"]
DASHES = ["-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2))]


class Look(NamedTuple):
    colour: str
    dash: object
    width: float


def colour(learner: str) -> str:
    """Of a spec, or of the name of a learner of one's own."""
    name, number = learner.split(":")[0], 0
    for byte in name.encode():
        number = (31 * number + byte) % 2**32
    return COLOURS.get(name, OTHERS[number % len(OTHERS)])


def looks(learners: Sequence[str]) -> list[Look]:
    """One for each learner of a study: those of one colour differ by their dashes, and gbose-auto is thick."""
    colours = [colour(learner) for learner in learners]
    return [
        Look(c, DASHES[colours[:i].count(c) % len(DASHES)], 3.0 if c == COLOURS["gbose-auto"] else 1.5)
        for i, c in enumerate(colours)
    ]
