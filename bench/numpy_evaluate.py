"""IPS, SNIPS and DR of three policies by numpy, on arrays that are in memory already: prints microseconds a row. Usage: ROWS."""
import sys
import time

import numpy as np

n, arms, dim = int(sys.argv[1]), 10, 18
rng = np.random.default_rng(1)
x = rng.normal(size=(n, arms, dim))
pmf = np.full((n, arms), 1 / arms)
arm = rng.integers(arms, size=n)
r = rng.normal(size=n)
policies = [pmf, np.full((n, arms), 1 / arms), np.tile(np.eye(arms)[3], (n, 1))]
rows = np.arange(n)

begin = time.process_time()
b = x[rows, arm]
theta = np.linalg.lstsq(np.column_stack([np.ones(n), b]), r, rcond=None)[0]
q = theta[0] + x @ theta[1:]
for pi in policies:
    w = pi[rows, arm] / pmf[rows, arm]
    ips = np.mean(w * r)
    snips = np.sum(w * r) / np.sum(w)
    dr = np.mean(np.sum(pi * q, axis=1) + w * (r - q[rows, arm]))
print(1e6 * (time.process_time() - begin) / n)
