"""Encoding in Python: the same ten arms and eighteen columns as features.c, from dictionaries. Answers requests one a line,
"WHAT SECONDS", with CPU microseconds of a round:

    numpy   rows written by hand: dictionaries of indices, products, assignments to columns
    pandas  a frame of the actions, categories, get_dummies
    gbose   Schema.encode(); 0 if the package is not installed for this Python
"""
import random
import sys
import time

import numpy as np

TOPICS = {"sports": 0, "politics": 1, "travel": 2}
DEVICES = {"ios": 0, "android": 1}
TEXT = """
    action.topic category sports, politics, travel missing=off
    action.price number scale=10 missing=off
    user.device  category ios, android missing=off
    user.tenure  number scale=365 missing=off
    arm   = 1*topic price topic*device price*tenure
    round = device tenure
"""


def scenes(n=64):
    rng = random.Random(1)
    for _ in range(n):
        actions = [{"topic": rng.choice([*TOPICS, "cooking"]), "price": rng.randrange(100) / 4} for _ in range(10)]
        yield actions, {"device": rng.choice([*DEVICES, "palm"]), "tenure": float(rng.randrange(1000))}


def by_numpy(actions, user):
    n, device, tenure = len(actions), DEVICES.get(user["device"], 2), user["tenure"] / 365
    topic = np.array([TOPICS.get(a["topic"], 3) for a in actions])
    price = np.array([a["price"] for a in actions]) / 10
    rows, arms = np.zeros((n, 18)), np.arange(n)
    rows[arms, topic] = 1
    rows[:, 4] = price
    rows[arms, 5 + 3 * topic + device] = 1
    rows[:, 17] = price * tenure
    round = np.zeros(4)
    round[device], round[3] = 1, tenure
    return rows, round


def by_pandas(actions, user):
    import pandas as pd

    frame = pd.DataFrame(actions)
    known = [*TOPICS, "other"]
    topic = pd.get_dummies(pd.Categorical(frame["topic"].where(frame["topic"].isin(TOPICS), "other"), known)).astype(float)
    kinds = [*DEVICES, "other"]
    device = pd.get_dummies(pd.Categorical([user["device"] if user["device"] in DEVICES else "other"], kinds)).iloc[0]
    price = frame["price"] / 10
    crossed = {f"{t}*{d}": topic[t] * device[d] for t in known for d in kinds}
    columns = {**{t: topic[t] for t in known}, "price": price, **crossed, "tenure": price * user["tenure"] / 365}
    return pd.DataFrame(columns).to_numpy(float), np.append(device.to_numpy(float), user["tenure"] / 365)


def timed(encode, seconds):
    rounds = list(scenes())
    encode(*rounds[0])
    done, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        for actions, user in rounds:
            encode(actions, user)
        done += len(rounds)
    return 1e6 * (time.process_time() - begin) / done


def main():
    contenders = {"numpy": by_numpy, "pandas": by_pandas}
    try:
        import gbose

        schema = gbose.Schema(TEXT)
        contenders["gbose"] = lambda actions, user: schema.encode(actions, user=user)
    except (ImportError, AttributeError):
        pass
    for actions, user in scenes():  # all give the same
        for encode in contenders.values():
            for mine, theirs in zip(encode(actions, user), by_numpy(actions, user)):
                assert np.allclose(mine, theirs, rtol=1e-12), encode
    for line in sys.stdin:
        what, seconds = line.split()
        print(timed(contenders[what], float(seconds)) if what in contenders else 0, flush=True)


main()
