#!/usr/bin/env bash
# Run a command beside a PostgreSQL of its own, which is gone afterwards, however the command ends.
# Usage: postgres.sh COMMAND...
# The command finds it by GBOSE_TEST_POSTGRES, a URL. Exit code: the command's; 77 if there is no PostgreSQL to start.
set -euo pipefail

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1) || true
[[ -n $bin && -x $bin/initdb ]] || { echo "postgres.sh: no PostgreSQL is installed (Debian: postgresql)" >&2; exit 77; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/gbose-postgres.XXXXXX")
as=()
if [[ $(id -u) == 0 ]]; then # PostgreSQL refuses to run as root
    chown nobody "$dir"
    as=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
fi
server='' command=''
clean() {
    trap '' INT TERM HUP
    if [[ -n $command ]]; then kill "$command" 2>/dev/null || true; fi
    if [[ -n $server ]] && kill -INT "$server" 2>/dev/null; then wait "$server" 2>/dev/null || true; fi
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP


port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(cd / && "${as[@]}" "$bin/initdb" -D "$dir/data" -U gbose --auth=trust --encoding=UTF8 --no-locale --no-sync) >"$dir/log" 2>&1 ||
    { cat "$dir/log" >&2; exit 1; }
# It ends with this script even if that is killed. Tests kill processes, not machines: fsync would only be slow.
setpriv "${as[@]:1}" --pdeathsig=INT -- "$bin/postgres" -D "$dir/data" -p "$port" -k "$dir" -c listen_addresses=127.0.0.1 \
    -c fsync=off -c shared_buffers=32MB >>"$dir/log" 2>&1 &
server=$!
for _ in $(seq 200); do
    if "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"; then break; fi
    kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
    sleep 0.05
done
export GBOSE_TEST_POSTGRES="postgresql://gbose@127.0.0.1:$port/postgres"
"$@" &
command=$!
code=0
wait "$command" || code=$?
command=''
exit "$code"
