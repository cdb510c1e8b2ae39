"""The same rounds in numpy, twice.

research: as the scripts that come with papers are written: a matrix is inverted every round, pairs of arms and samples
          are looped over.
expert:   the inverse is updated by rank one, pairs come from a Gram matrix, samples from one matrix product.

    numpy_rounds.py research|expert

answers the driver's requests, one a line: LEARNER WORKLOAD SECONDS -> microseconds of CPU per round.
"""
import sys
import time

import numpy as np

GAMMA = 1.0
DRAWS = 1000
rng = np.random.default_rng(1)


class Rounds:
    def __init__(self, path):
        n_rounds, n, d = np.fromfile(path, dtype=np.int64, count=3)
        rest = np.fromfile(path, dtype=np.float64, offset=24)
        self.n_rounds, self.n, self.d = int(n_rounds), int(n), int(d)
        self.B = rest[:d * d].reshape(d, d).copy()
        self.mu = rest[d * d:d * d + d].copy()
        at = d * d + d
        self.contexts = rest[at:at + n_rounds * n * d].reshape(n_rounds, n, d)
        self.rewards = rest[at + n_rounds * n * d:].reshape(n_rounds, n)
        self.y = self.B @ self.mu
        self.V = np.linalg.inv(self.B)


def farthest_research(r, X):
    V = np.linalg.inv(r.B)
    mu = V @ r.y
    live = []
    for i in range(r.n):
        kept = True
        for j in range(r.n):
            z = X[j] - X[i]
            if z @ mu > GAMMA * np.sqrt(z @ V @ z):
                kept = False
                break
        if kept:
            live.append(i)
    best, pair = -1.0, None
    for a, i in enumerate(live):
        for j in live[a + 1:]:
            z = X[j] - X[i]
            distance = z @ V @ z
            if distance > best:
                best, pair = distance, (i, j)
    return pair


def gbose_research(r, t):
    X = r.contexts[t]
    pair = farthest_research(r, X)
    if pair is None:
        return
    arm = pair[rng.integers(2)]
    x = X[arm] - (X[pair[0]] + X[pair[1]]) / 2
    r.B += np.outer(x, x)
    r.y += x * r.rewards[t, arm]


def rank_one(r, x, w):
    Vx = r.V @ x
    r.V -= np.outer(Vx, Vx * (w / (1 + w * (x @ Vx))))


def gbose_expert(r, t):
    X = r.contexts[t]
    score = X @ (r.V @ r.y)
    gram = (X @ r.V) @ X.T
    square = gram.diagonal()
    distance = square[:, None] + square[None, :] - 2 * gram
    lead = score[:, None] - score[None, :]
    beaten = (lead > 0) & (lead * lead > GAMMA * GAMMA * distance)
    live = np.flatnonzero(~beaten.any(axis=0))
    if len(live) < 2:
        return
    among = distance[np.ix_(live, live)]
    k, l = divmod(int(among.argmax()), len(live))
    pair = live[k], live[l]
    arm = pair[rng.integers(2)]
    x = X[arm] - (X[pair[0]] + X[pair[1]]) / 2
    rank_one(r, x, 1.0)
    r.y += x * r.rewards[t, arm]


def semi_ts_research(r, t):
    X = r.contexts[t]
    V = np.linalg.inv(r.B)
    mu = V @ r.y
    pmf = np.zeros(r.n)
    for sample in rng.multivariate_normal(mu, GAMMA * GAMMA * V, size=DRAWS):
        pmf[np.argmax(X @ sample)] += 1 / DRAWS
    arm = rng.choice(r.n, p=pmf / pmf.sum())
    centred = X - pmf @ X
    r.B += 2 * np.outer(centred[arm], centred[arm])
    for i in range(r.n):
        r.B += 2 * pmf[i] * np.outer(centred[i], centred[i])
    r.y += 4 * centred[arm] * r.rewards[t, arm]


def semi_ts_expert(r, t):
    X = r.contexts[t]
    score = X @ (r.V @ r.y)
    cov = (X @ r.V) @ X.T
    L = np.linalg.cholesky(cov + 1e-12 * np.eye(r.n))
    wins = (score + GAMMA * (rng.standard_normal((DRAWS, r.n)) @ L.T)).argmax(axis=1)
    pmf = np.bincount(wins, minlength=r.n) / DRAWS
    arm = int(np.searchsorted(pmf.cumsum(), rng.random()))
    arm = min(arm, r.n - 1)
    centred = X - pmf @ X
    rank_one(r, centred[arm], 2.0)
    for i in np.flatnonzero(pmf):
        rank_one(r, centred[i], 2 * pmf[i])
    r.y += 4 * centred[arm] * r.rewards[t, arm]


ROUNDS = {("gbose", "research"): gbose_research, ("gbose", "expert"): gbose_expert,
          ("semi-ts", "research"): semi_ts_research, ("semi-ts", "expert"): semi_ts_expert}


def main():
    style = sys.argv[1]
    for line in sys.stdin:
        learner, path, seconds = line.split()
        play, r, done = ROUNDS[learner, style], Rounds(path), 0
        begin = time.process_time()
        while True:
            play(r, done % r.n_rounds)
            done += 1
            used = time.process_time() - begin
            if used >= float(seconds):
                break
        print(1e6 * used / done, flush=True)


main()
