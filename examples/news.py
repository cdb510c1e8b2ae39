"""A news site chooses one of eight stories for each visitor. Interest in news as such grows through the weeks and swings
with the hour; that moves the clicks on every story alike, and has nothing to do with the choice. lin-ts puts it down to
the stories that it showed at the time. gbose-auto compares stories within a visit.

    python examples/news.py [FIGURE]          (news.png)
"""
import sys

import numpy as np
from matplotlib.figure import Figure

import gbose

VISITS, STORIES = 20_000, 8
TASTE = np.array([0.6, 0.3, 0.0, -0.2, -0.5])  # how much a visitor likes each topic
SCHEMA = gbose.Schema("""
    action.topics  vector 5    # how much a story is about each topic
    time.hour      cycle 24
    arm   = topics             # what differs between stories
    round = hour               # what moves all of them alike, as far as it is known""")


def level(t):
    """What every story would get at visit t: the trend, the hour, and a big event."""
    return 2.0 * t / VISITS + 0.3 * np.sin(2 * np.pi * t / 500) + (1.0 if 8_000 < t < 10_000 else 0.0)


def play(learner):
    """Cumulative regret of a learner over all visits."""
    rng, bandit, regret = np.random.default_rng(1), gbose.Bandit(learner, schema=SCHEMA, seed=1), np.empty(VISITS)
    for t in range(VISITS):
        stories = [{"topics": topics} for topics in rng.dirichlet(np.ones(5), size=STORIES)]
        decision = bandit.decide(actions=stories, time={"hour": 24 * t / 500})
        worth = np.array([story["topics"] @ TASTE for story in stories])
        bandit.learn(decision.ticket, worth[decision.arm] + level(t) + 0.1 * rng.normal())
        regret[t] = worth.max() - worth[decision.arm]
    return regret.cumsum()


def main(path):
    curves = {learner: play(learner) for learner in ["gbose-auto", "lin-ts"]}
    figure, visits = Figure(figsize=(9, 3.5), layout="constrained"), np.arange(0, VISITS, 20)
    left, right = figure.subplots(1, 2)
    left.plot(visits, [level(t) for t in visits], color="gray")
    left.set(title="what moves all stories alike", xlabel="visit")
    for learner, curve in curves.items():
        print(f"{learner:10} regret {curve[-1]:7.1f}")
        right.plot(visits, curve[visits], label=learner)
    right.set(title="cumulative regret", xlabel="visit")
    right.legend(frameon=False)
    figure.savefig(path)
    return {learner: curve[-1] for learner, curve in curves.items()}


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "news.png")
