#!/usr/bin/env bash
# Measures the framework, beside what others make of the same work, in one run on one machine.
#
#   Playground/Benchmarks/run.sh streams [COUNT [ROUNDS [TEXT]]]
#   Playground/Benchmarks/run.sh http [COUNT]
#   Playground/Benchmarks/run.sh cancel [COUNT]
#
# streams: COUNT events (default 1000000) through chains, combinations and signals, on one core, by turns with the
# peers' of the same work; medians of ROUNDS (default 7) rounds; only cases whose names contain TEXT. On stdout a
# JSON object for each case, on stderr a table. Docs/Performance.md explains the numbers.
#
# http: GET of a JSON object of 61 bytes, from nginx with one worker on core 0 to a client on core 1, COUNT
# requests (default 100000) at 1 and at 64 in flight; five rounds, in each the one after the other: C with the same
# libraries, and ours. On stdout a JSON line for each measurement and each median, on stderr a table. What counts is
# the ratio.
#
# cancel: COUNT transfers of 16 MiB (default 10000), 64 at a time, each cancelled at its first bytes, in five
# rounds. After each a JSON line with the open descriptors and the resident memory, which must not grow.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
rounds=5

case "${1:-}" in
streams) product=StreamsBenchmark ;;
http) product=HTTPBenchmark count=${2:-100000} ;;
cancel) product=CancelBenchmark count=${2:-10000} ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

work=$(mktemp -d)
server=
cleanup() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" || true; }
    rm -rf "$work"
}
trap cleanup EXIT

here=$root/Playground/Benchmarks
build_product() {
    echo "Building." >&2
    local build=(swift build -c release --package-path "$here" --scratch-path "$root/.build/benchmarks")
    "${build[@]}" --product "$product" >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
    ours=$("${build[@]}" --show-bin-path)/$product
}

source "$root/Playground/install.sh"
need_libraries
need_command taskset util-linux util-linux
if [ "$product" = StreamsBenchmark ]; then
    install_missing
    build_product
    taskset -c 1 "$ours" "${@:2}"
    exit
fi
need_command cc gcc gcc
need_command nginx nginx-light nginx
need_command python3 python3 python3
install_missing

# The flags are words of their own.
cc -O2 -o "$work/reference" "$here/Reference/multi_uv.c" $(pkg-config --cflags --libs libcurl libuv)
build_product

# The socket listens before nginx is there to take it over, so that the port is surely free and ready.
cat >"$work/serve.py" <<'P'
import os, socket, sys
folder, template = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0), backlog=512)
port = listener.getsockname()[1]
with open(template) as source, open(f"{folder}/nginx.conf", "w") as target:
    target.write(source.read().replace("PORT", str(port)))
with open(f"{folder}/port", "w") as file:
    file.write(str(port))
os.dup2(listener.fileno(), 10)
os.environ["NGINX"] = "10;"
os.environ["PATH"] += ":/usr/sbin"
print(port, flush=True)
os.dup2(2, 1)
os.execvp("nginx", ["nginx", "-p", folder, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"])
P
mkfifo "$work/ready"
taskset -c 0 python3 "$work/serve.py" "$work" "$here/nginx.conf" >"$work/ready" 2>"$work/nginx.log" &
server=$!
read -r port <"$work/ready"
url=http://127.0.0.1:$port/json

if [ "$product" = CancelBenchmark ]; then
    chmod a+x "$work" # nginx's worker is another user where its master is root
    truncate -s 16M "$work/large"
    taskset -c 1 "$ours" "http://127.0.0.1:$port/large" "$count"
    exit
fi

measure() { taskset -c 1 "$@" | tee -a "$work/results" || { cat "$work/nginx.log" >&2; return 1; }; }

for in_flight in 1 64; do
    taskset -c 1 "$work/reference" "$url" 1000 "$in_flight" >/dev/null # a warm-up
    for ((round = 1; round <= rounds; round++)); do
        measure "$work/reference" "$url" "$count" "$in_flight"
        measure "$ours" "$url" "$count" "$in_flight"
    done
done

python3 - "$work/results" <<'P'
import collections, json, statistics, sys
speeds = collections.defaultdict(list)
for line in open(sys.argv[1]):
    result = json.loads(line)
    speeds[result["in_flight"], result["client"]].append(result["requests_per_second"])
print(f"{'in flight':>9} {'C, 1/s':>10} {'Swift, 1/s':>10} {'ratio':>6}", file=sys.stderr)
for in_flight in sorted({key[0] for key in speeds}):
    c, swift = (statistics.median(speeds[in_flight, client]) for client in ("c", "swift"))
    print(f"{in_flight:>9} {c:>10.0f} {swift:>10.0f} {swift / c:>6.2f}", file=sys.stderr)
    print(json.dumps({"median": True, "in_flight": in_flight, "c": c, "swift": swift, "ratio": round(swift / c, 3)}))
P
