"""When to suggest a walk: the world "heartsteps", modelled on a trial with five decision points a day for 42 days. Arm 0 is
to send nothing, arm 1 to send a suggestion. Steps differ wildly for reasons that a suggestion does not change. Some are
known beforehand: the day, and how much the person walked after the last decision point. They are features of the round:
they may take noise away (here little: most of it is chance), and have no part in the choice. A floor of 0.2 lets chance
choose now and then to the end, so that the effect of a suggestion can be told with an interval that holds. At the end
the bandit says what it has found.

    python examples/heartsteps.py [FIGURE]    (heartsteps.png)
"""
import sys

import numpy as np
from matplotlib.figure import Figure

import gbose

USERS, DAYS, POINTS = 400, 42, 5
TRUE_EFFECT = [a - 0.017908 * np.arange(DAYS) for a in (0.442889, 0.442889 + 0.101423)]  # elsewhere; at home or work
SCHEMA = gbose.Schema("""
    action.send    flag             missing=off
    user.day       number scale=42  missing=off
    user.home      flag             missing=off
    user.previous  number           missing=off
    arm   = send  send*day  send*home
    round = day  previous""")


def main(path):
    world, bandit = gbose.World("heartsteps", seed=1), gbose.Bandit("gbose-auto:floor=0.2", schema=SCHEMA, seed=1)
    regret, previous = [], 0.0
    for t in range(USERS * DAYS * POINTS):
        day, contexts = t // POINTS % DAYS, world.next().contexts  # one arm only when a suggestion cannot be sent
        user = {"day": day, "home": contexts[-1, 2] > 0, "previous": previous if t % (DAYS * POINTS) else 0.0}
        decision = bandit.decide(actions=[{"send": send} for send in range(len(contexts))], user=user)
        previous, loss = world.play(decision.arm)
        bandit.learn(decision.ticket, previous)
        regret.append(loss)
    early, late = np.mean(regret[: len(regret) // 4]), np.mean(regret[-len(regret) // 4 :])
    print(f"{bandit.diagnose()}\nlost a decision point: {early:.3f} at first, {late:.3f} at last")

    figure = Figure(figsize=(5.5, 3.8), layout="constrained")
    axes = figure.subplots()
    for home, name in [(0, "elsewhere"), (1, "at home or work")]:
        x = np.vstack([SCHEMA.encode([{"send": 1}], user={"day": day, "home": home})[0] for day in range(DAYS)])
        effect, lower, upper = np.array([bandit.effect(row) for row in x]).T  # intervals that hold at any time
        (line,) = axes.plot(effect, label=f"{name}, learned")
        axes.fill_between(range(DAYS), lower, upper, color=line.get_color(), alpha=0.2)
        axes.plot(TRUE_EFFECT[home], color=line.get_color(), linestyle="--", label=f"{name}, true")
    axes.axhline(0, color="gray", linewidth=0.5)
    axes.set(title="effect of a suggestion on log steps", xlabel="day")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path)
    return bandit, early, late


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "heartsteps.png")
