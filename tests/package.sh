#!/usr/bin/env bash
# The Debian package as a new user meets it: made, installed by apt into a system that has nothing but Debian's minimum, and
# used there. Skipped without root and without Debian's packages at hand. Usage: package.sh
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
root=$work/root

leave() {
    umount -q "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap leave EXIT

fail() {
    echo "package: $*" >&2
    exit 1
}
skip() {
    echo "package: skipped: $*" >&2
    exit 77
}

[[ $(id -u) == 0 ]] || skip "a chroot needs root"
command -v debootstrap >/dev/null || skip "there is no debootstrap"

"$top/scripts/package.sh" "$work/made" >"$work/log" 2>&1 || fail "$(tail -40 "$work/log")"
package=$(ls "$work"/made/gbose_*.deb)

# Where this system gets its packages from.
read -r mirror codename < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
    grep -v -e security -e updates) || skip "apt knows no mirror"
debootstrap --variant=minbase "$codename" "$root" "$mirror" >"$work/log" 2>&1 || skip "debootstrap: $(tail -3 "$work/log")"
echo "deb $mirror $codename main" >"$root/etc/apt/sources.list"
mount -t proc proc "$root/proc" 2>/dev/null || true
cp "$package" "$root/gbose.deb"

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

cp /etc/resolv.conf "$root/etc/resolv.conf"
inside apt-get -qq update >"$work/log" 2>&1 || skip "apt-get update: $(tail -3 "$work/log")"
inside apt-get -qq install --yes --no-install-recommends /gbose.deb >"$work/log" 2>&1 || fail "$(tail -40 "$work/log")"

version=$(inside gbose --version) || fail "gbose does not start"
[[ $version == "gbose $(dpkg-deb --field "$package" Version)" ]] || fail "$version is not the package's version"
inside gbose simulate --world paper --learner gbose-auto lin-ts --rounds 200 --reps 2 --out - >"$work/out" || fail "simulate"
grep -q '^gbose-auto ' "$work/out" || fail "no table: $(cat "$work/out")"
# (A minimal system keeps no documentation but the copyright: these are looked for in the package itself.)
dpkg-deb --contents "$package" >"$work/contents"
for file in man/man1/gbose.1 man/man1/gbose-serve.1 bash-completion/completions/gbose zsh/vendor-completions/_gbose \
    fish/vendor_completions.d/gbose.fish doc/gbose/copyright; do
    grep -q "/usr/share/$file$" "$work/contents" || fail "the package has no /usr/share/$file"
done

# The service answers. A minimal system has no curl, but bash has sockets.
inside gbose serve --data /data --port 0 >"$work/serve" 2>&1 &
server=$!
port=
for _ in $(seq 100); do
    port=$(sed -n 's#.*http://127.0.0.1:\([0-9]*\)/.*#\1#p' "$work/serve")
    [[ -z $port ]] || break
    sleep 0.1
done
[[ -n $port ]] || fail "serve: $(cat "$work/serve")"
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /healthz HTTP/1.0\r\n\r\n' >&3
grep -q '^HTTP/1.[01] 200' <&3 || fail "the service is not healthy"
kill "$(pgrep -P $server || echo $server)"
wait $server || true

# A program can be built with its headers and its shared library, which the loader finds.
grep -q 'libgbose\.so\.' <<<"$(inside ldconfig -p)" || fail "the loader does not find libgbose"
inside apt-get -qq install --yes --no-install-recommends gcc libc6-dev pkg-config >"$work/log" 2>&1 || fail "$(tail -9 "$work/log")"
cp "$top/examples/minimal.c" "$root/minimal.c"
inside sh -c 'cc /minimal.c $(pkg-config --cflags --libs gbose) -o /minimal' || fail "the example does not build"
grep -q 'the truth is' <<<"$(inside /minimal)" || fail "the example does not run"

inside apt-get -qq remove --yes gbose >"$work/log" 2>&1 || fail "remove: $(cat "$work/log")"
[[ ! -e $root/usr/bin/gbose ]] || fail "it is still there after it was removed"
echo "package: $(basename "$package") installs, works and leaves"
