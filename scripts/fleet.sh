#!/usr/bin/env bash
# A fleet on this machine, to look at: PostgreSQL of its own, three servers, and a load that decides and rewards. It says where the page is, and
# goes on until Ctrl-C, which ends all of it and leaves nothing behind.
# Usage: scripts/fleet.sh [SERVERS] [PORT]        3 servers from port 8791 on
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
servers=${1-3} first=${2-8791}

if [[ $servers == --help || $servers == -h ]]; then
    sed -n '2,4s/^# //p' "$0"
    exit 0
elif ! [[ $# -le 2 && $servers =~ ^[1-9]$ && $first =~ ^[1-9][0-9]{0,4}$ ]] || ((first + servers > 65536)); then
    echo "fleet: usage: scripts/fleet.sh [SERVERS] [PORT]: 1 to 9 servers, and the port of the first one (1 to 65535)" >&2
    exit 2
fi

if [[ -z ${GBOSE_TEST_POSTGRES-} ]]; then # begin: build, and come back here beside a database
    "$top/scripts/setup.sh" fleet
    mkdir -p "$top/build"
    (cd "$top" && cmake --preset release && cmake --build --preset release --target gbose_cli) >"$top/build/run.log" 2>&1 ||
        { cat "$top/build/run.log" >&2; exit 1; }
    exec python3 "$top/scripts/postgres.py" "$0" "$servers" "$first"
fi

gbose=$top/build/release/gbose
log=$(mktemp -d)
pids=()
clean() {
    trap '' INT TERM
    kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$log"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$gbose" store init "$GBOSE_TEST_POSTGRES"
ports=()
for ((i = 0; i < servers; i++)); do
    setpriv --pdeathsig=TERM -- "$gbose" serve --store "$GBOSE_TEST_POSTGRES" --port $((first + i)) --threads 1 2>"$log/$i" &
    pids+=($!)
    ports+=($((first + i)))
done
for ((i = 0; i < servers; i++)); do
    until grep -qs http:// "$log/$i"; do
        if ! kill -0 "${pids[i]}" 2>/dev/null; then
            echo "fleet: the server on port ${ports[i]} did not start:" >&2
            cat "$log/$i" >&2
            exit 1
        fi
        sleep 0.05
    done
done
for port in "${ports[@]}"; do echo "http://127.0.0.1:$port/"; done
echo "Each page shows all servers. Ctrl-C ends it; kill -9 one of ${pids[*]} and see what happens."
[[ -z ${DISPLAY-}${WAYLAND_DISPLAY-} ]] || xdg-open "http://127.0.0.1:$first/" >/dev/null 2>&1 || true
setpriv --pdeathsig=TERM -- python3 - "${ports[@]}" <<'END' &
"""Decisions at any server, rewards at any other, about 100 a second."""
import json, random, sys, time, urllib.error, urllib.request

ports, rng = sys.argv[1:], random.Random()


def call(method, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{rng.choice(ports)}/v1/bandits/news{path}", method=method, data=json.dumps(body).encode())
    return json.load(urllib.request.urlopen(request, timeout=10))


while True:
    try:
        call("PUT", "", {"spec": "gbose-auto:floor=0.05", "dim": 3, "wait": "1m"})
        while True:
            level = 0.3 * (time.time() // 20 % 3)  # which moves all arms alike
            asked = [{"contexts": [[rng.gauss(0, 1) for _ in range(3)] for _ in range(4)]} for _ in range(10)]
            got = call("POST", "/decide", asked)
            call("POST", "/rewards", [{"event": d["event"], "reward": level + 0.5 * a["contexts"][d["arm"]][0] + rng.gauss(0, 0.2), "final": True} for a, d in zip(asked, got)])
            time.sleep(0.1)
    except (OSError, urllib.error.HTTPError):  # a server is gone, or has not heard of the bandit yet
        time.sleep(0.3)
END
pids+=($!)
wait
