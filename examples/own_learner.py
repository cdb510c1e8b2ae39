"""A learner of your own, compared with ours: ten lines, and a study in which all meet the same rounds.

    python examples/own_learner.py [FIGURE]   (own_learner.png)
"""
import sys

import numpy as np

import gbose


class GreedyRidge:
    """Ridge regression, the best estimate, and any arm once in ten rounds."""

    def __init__(self, dim, seed):
        self.rng = np.random.default_rng(seed)
        self.V, self.y = np.eye(dim), np.zeros(dim)

    def decide(self, contexts):
        if self.rng.uniform() < 0.1:
            return int(self.rng.integers(len(contexts)))
        return int(np.argmax(contexts @ (self.V @ self.y)))

    def learn(self, contexts, arm, reward):
        x = contexts[arm]
        Vx = self.V @ x
        self.V -= np.outer(Vx, Vx) / (1 + x @ Vx)
        self.y += reward * x


def main(path):
    study = gbose.simulate(
        worlds=["paper:arms=5", "paper:arms=5,shift=log-sine"],
        learners=["gbose-auto", "gbose", "lin-ts", GreedyRidge],
        rounds=3000,
        reps=6,
    )
    print(study)
    study.plot().savefig(path)
    return study


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "own_learner.png")
