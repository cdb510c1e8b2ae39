"""What a bandit says about itself and its world: Effect and Diagnosis."""

from __future__ import annotations

import html
from typing import NamedTuple


class Effect(NamedTuple):
    """What features do to the reward: an estimate, and the interval that holds at all times."""

    estimate: float
    lower: float
    upper: float


class Diagnosis(NamedTuple):
    """What gbose-auto has found out: see docs/learners/gbose-auto.md. `plain` is a linear learner with an intercept."""

    rounds: int  # rewards that all this rests on
    baseline: float  # the recent shift v
    drift: float  # by how much it moves in a round
    residual: float  # root mean square of what the baseline leaves
    removed: float  # share of the variance that the baseline removes
    tracker: str  # what the baseline follows now
    tracker_forget: float  # and how fast it forgets: a round k rounds ago counts tracker_forget ** k
    lone: float  # share of the rounds in which one arm survived
    full: bool  # which estimate chooses now: that of all rounds, or the orthogonal one
    hausman: float  # size of the plain estimate's error in the effects that coins have shown
    df: float  # its mean if a plain linear learner is right
    p_value: float  # anytime-valid: may be looked at as often as one likes
    misled: bool  # is a plain linear learner misled here (p_value at most 0.05)?
    bias: float  # by how much: root mean square over the arms played of the error of its estimate
    bias_noise: float  # what noise alone would make of `bias`
    coins: int  # rounds with a random choice among those learned
    evidence: float  # that the estimate of all rounds predicts coins worse; from 1 on the orthogonal one chooses
    scale: float  # the least that the residuals' root mean square has been for long; 0: not known
    scale_recent: float  # and what it is now, over about 50 rounds
    constant: int  # features that never differed between the arms of a round
    collinear: int  # features that those before them explain
    advice: str  # if something keeps it from learning; "" otherwise

    def __str__(self) -> str:
        estimate = "the estimate of all rounds" if self.full else "the orthogonal estimate"
        plain = "is misled here" if self.misled else "shows no sign of being misled here"
        advice = f"\n  advice       {self.advice}" if self.advice else ""
        return (
            f"after {self.rounds} rewards\n"
            f"  baseline     {self.baseline:.4g}, moving by {self.drift:.2g} a round; it follows {self.tracker}\n"
            f"  noise        {self.residual:.4g} is left; the baseline removes {100 * self.removed:.0f}% of the variance\n"
            f"  choosing     by {estimate}; one arm survived in {100 * self.lone:.0f}% of the rounds\n"
            f"  plain linear {plain} (p = {self.p_value:.2g}): error {self.bias:.2g}, by noise alone {self.bias_noise:.2g}"
            f"{advice}"
        )

    def _repr_html_(self) -> str:
        """For notebooks: what print() says, as a table."""
        first, *rest = str(self).splitlines()
        cells = [(line[2:15].strip(), line[15:]) for line in rest]
        rows = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in cells)
        return f"<table><caption>{first}</caption><tbody>{rows}</tbody></table>"
