"""When to suggest a walk: the world "heartsteps", modelled on a trial with five decision points a day for 42 days. Arm 0 is
to send nothing, arm 1 to send a suggestion. Steps differ wildly for reasons that a suggestion does not change. Some are
known beforehand: the day, and how much the person walked after the last decision point. They are features of the round:
they may take noise away (here little: most of it is chance), and have no part in the choice. At the end the bandit says
what it has found.

    python examples/heartsteps.py [FIGURE]    (heartsteps.png)
"""
import sys

import numpy as np
from matplotlib.figure import Figure

import gbose

USERS, DAYS, POINTS = 400, 42, 5
DAY = np.arange(DAYS)
TRUE_EFFECT = {0: 0.442889 - 0.017908 * DAY, 1: 0.442889 + 0.101423 - 0.017908 * DAY}  # elsewhere; at home or work


def context(day, place):
    """The features of a suggestion, as the world lays them out: 1, the day, and the place."""
    return np.stack([np.ones_like(day), day / DAYS, place * np.ones_like(day)], axis=-1) / np.sqrt(3)


def main(path):
    world = gbose.World("heartsteps", seed=1)
    bandit = gbose.Bandit("gbose-auto", dim=world.dim, seed=1, round=2)
    regret, previous = [], 0.0
    for t in range(USERS * DAYS * POINTS):
        point = t % (DAYS * POINTS)
        if point == 0:
            previous = 0.0  # a new user
        decision = bandit.decide(world.next().contexts, round=[point // POINTS / DAYS, previous])
        previous, loss = world.play(decision.arm)
        bandit.learn(decision.ticket, previous)
        regret.append(loss)
    print(bandit.diagnose())
    late = np.mean(regret[-len(regret) // 4 :])
    print(f"lost a decision point: {np.mean(regret[: len(regret) // 4]):.3f} at first, {late:.3f} at last")

    figure = Figure(figsize=(5.5, 3.8), layout="constrained")
    axes = figure.subplots()
    for place, name in [(0, "elsewhere"), (1, "at home or work")]:
        x = context(DAY.astype(float), float(place))
        effect, width = x @ bandit.coef, bandit.diagnose().residual * bandit.width(x)
        (line,) = axes.plot(DAY, effect, label=f"{name}, learned")
        axes.fill_between(DAY, effect - 2 * width, effect + 2 * width, color=line.get_color(), alpha=0.2, linewidth=0)
        axes.plot(DAY, TRUE_EFFECT[place], color=line.get_color(), linestyle="--", label=f"{name}, true")
    axes.axhline(0, color="gray", linewidth=0.5)
    axes.set(title="effect of a suggestion on log steps", xlabel="day")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path)
    return bandit, np.mean(regret[: len(regret) // 4]), late


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "heartsteps.png")
