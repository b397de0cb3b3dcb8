#!/usr/bin/env bash
# Measures the framework and other implementations of the same work, in one run on one machine.
#
#   Playground/Benchmarks/run.sh streams [COUNT [ROUNDS [TEXT]]]
#   Playground/Benchmarks/run.sh http [CASE...]
#   Playground/Benchmarks/run.sh libcurl VERSION [CASE...]
#   Playground/Benchmarks/run.sh cancel [COUNT]
#   Playground/Benchmarks/run.sh api [CASE...]
#   Playground/Benchmarks/run.sh footprint
#   Playground/Benchmarks/run.sh calls [--list down|up]
#   Playground/Benchmarks/run.sh adoption
#   Playground/Benchmarks/run.sh websocket
#   Playground/Benchmarks/run.sh testing
#   Playground/Benchmarks/run.sh signing
#   Playground/Benchmarks/run.sh transfers [CASE...]
#   Playground/Benchmarks/run.sh fleet
#
# streams: COUNT events (default 1000000) through chains, combinations and signals, on one core, in turns with the
# same work by the peers; medians of ROUNDS (default 7) rounds; only cases whose names contain TEXT. Prints a JSON
# object for each case to stdout, and a table to stderr. Docs/Performance.md explains the numbers.
#
# http: a server on core 0, nginx with one worker, and a client on core 1: RxNetworking, a C program on the same two
# libraries with the same options, AsyncHTTPClient and URLSession, in turns, each in a separate process, five rounds
# (ROUNDS in the environment); medians. Only cases whose names begin with one of CASE. Prints a JSON object for each
# measurement and each median to stdout, and tables to stderr.
#
# libcurl: RxNetworking and the C program with the system's libcurl and with another one, such as 8.14.1, in one run: 1
# and 64 requests in flight over HTTP/1.1, and over HTTP/2 with TLS.
#
# cancel: COUNT transfers of 16 MiB (default 10000), 64 at a time, each cancelled at its first bytes, in five
# rounds. After each round it prints a JSON line with the open descriptors and the resident memory, which must not grow.
#
# api: the cost of the client compared with the transport alone, on core 1, with the servers on core 0. Cases: requests,
# 64 in flight through the transport alone, the same with Foundation's decoder, through a default client, through one
# with a session, retries, an envelope and an accessory, through that with three interceptors, with metrics and with
# tracing, in turns in one process, and with an inspector whose front end reads, in a process of its own (ROUNDS, default 9, of COUNT, default 10000, in the environment), with the instructions
# of each if valgrind is installed; cache, responses from memory; items, a million of them page by page, with the resident
# memory.
#
# calls: how many functions of the framework a request calls on its way down, from the subscription to libcurl, and on its
# way up, in a debug build: through the transport alone, a default client, and the way `full` of api.
#
# footprint: what a request needs of the processor's caches, counted by cachegrind with 32 KiB of each first level and
# 256 KiB of the second: the C program, RxNetworking's transport, and the whole client (ROUNDS, default 3). Before that the
# requests a second of the first two while a neighbour walks over 8 MiB on the servers' core.
#
# adoption: what a new package with one program pays for RxNetworking, and for AsyncHTTPClient: packages to fetch, time of
# builds, size of the program.
#
# websocket: echoes of 64 B and 64 KiB over 1 and 64 connections, in turns (ROUNDS, default 5): RxNetworking, a C program
# on libcurl's own WebSocket, and swift-nio, each on core 1 with the server, a C program, on core 0; then the resident
# memory of 10,000 idle connections. The first two use libcurl 8.14.1, since Debian's 7.88.1 has no WebSocket.
# testing: 10,000 requests through a whole client in virtual time, at most 1 s; a cassette of 1,000 exchanges read and
# replayed through one, at most 0.2 s; medians, on core 1. Exits with 1 if a limit is exceeded.
#
# signing: the processor time that a signature of AWS (Signature Version 4) adds to a request with 1 KiB of content: alone,
# and through a whole client in virtual time, at most 25 µs; the time of botocore, and of AWS's aws-c-auth called from
# Python, for such a signature before and after; medians, on core 1. Exits with 1 if the limit is exceeded.
#
# transfers: one file (MIB, default 256) in turns (ROUNDS, default 3) through a link with 20 ms of delay and a limit for each
# connection (RATE, default 4000000 bytes a second): a download in 16 parts beside aria2, curl --parallel and rclone, and over S3
# in both directions beside rclone and s3transfer; and without the link beside curl. The seconds, the processor time for a
# GiB, the resident memory, and the memory of the process itself, without the files of programs and libraries.
#
# fleet: Redis on core 0, on core 1 in turns: GETs a second of a RedisStore on one connection, and of hiredis, blocking and
# on a libuv loop, with 256 in flight (ROUNDS, default 7, of COUNT, default 500000, in the environment); then the commands
# to Redis for requests with a current credential, none, and for permits of a shared limit, at most 0.1. Exits with 1 if a
# limit is missed.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

case "${1:-}" in
streams) product=StreamsBenchmark ;;
http) product=HTTPBenchmark ;;
libcurl) product=HTTPBenchmark other=${2:?run.sh libcurl VERSION} ;;
cancel) product=CancelBenchmark count=${2:-10000} ;;
api) product=APIBenchmark ;;
calls) product=APIBenchmark configuration=debug ;;
footprint) product=HTTPBenchmark ;;
adoption) product= ;;
websocket) product=WebSocketBenchmark other=8.14.1 ;;
testing) product=TestingBenchmark ;;
signing) product=SigningBenchmark ;;
transfers) product=transfer-probe ;;
fleet) product=FleetBenchmark ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

# In memory, if there is room, so that the disk does not affect the measurement.
[ "$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 1500000 ] 2>/dev/null && export TMPDIR=/dev/shm
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

here=$root/Playground/Benchmarks
scratch=$root/.build
build_product() {
    echo "Building $1." >&2
    local build=(swift build -c "${configuration:-release}" --package-path "$here" --scratch-path "$scratch/benchmarks")
    "${build[@]}" --product "$1" >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
    built=$("${build[@]}" --show-bin-path)
}
# Builds the C program. The flags are separate words.
build_reference() { cc -O2 -o "$1" "$here/Reference/multi_uv.c" $(pkg-config --cflags --libs libcurl libuv); }

source "$root/Playground/install.sh"
need_libraries
[ -z "${other:-}" ] || need_trait_libraries # libcurl.sh copies their .pc files
need_command taskset util-linux util-linux
if [ -z "$product" ]; then
    install_missing
    rm -rf "$scratch/adoption"
    "$here/adoption.sh" "$root" "$scratch/adoption"
    exit
fi
if [ "$product" = StreamsBenchmark ] || [ "$product" = TestingBenchmark ]; then
    install_missing
    build_product "$product"
    taskset -c 1 "$built/$product" "${@:2}"
    exit
fi
if [ "$product" = SigningBenchmark ]; then
    need_python
    install_missing
    build_product "$product"
    virtual_environment "$scratch/signing" "$here/signing-requirements.txt"
    others() { taskset -c 1 "$scratch/signing/bin/python" -I "$here/signing.py"; }
    others
    taskset -c 1 "$built/$product" || failed=1
    others
    exit "${failed:-0}"
fi
if [ "$product" = transfer-probe ]; then
    need_command cc gcc gcc
    need_command nginx nginx-light nginx
    need_command aria2c aria2 aria2
    need_command curl curl curl
    need_command rclone rclone rclone
    need_python
    need_trait_libraries
    install_missing
    cd "$root"
    virtual_environment "$PWD/.build-transfers" Tests/Services/transfer-requirements.txt
    export ALL_TRAITS=1 # read by Package.swift
    swift build -c release --product transfer-probe >&2
    cc -O2 -Wall -o "$work/link" "$here/Reference/link.c"
    python3 "$here/transfers.py" "$(swift build -c release --show-bin-path)/transfer-probe" "$work/link" \
        --programs "$PWD/.build-transfers/bin" --rounds "${ROUNDS:-3}" --mib "${MIB:-256}" --rate "${RATE:-4000000}" \
        --cases "${@:2}"
    exit
fi
need_command cc gcc gcc
need_command nginx nginx-light nginx
need_command openssl openssl openssl
need_command python3 python3 python3
need_library sqlite3 libsqlite3-dev sqlite # of RxFleet, which the package names
if [ "$product" = FleetBenchmark ]; then
    need_command redis-server redis-server redis
    need_library hiredis libhiredis-dev hiredis
fi
[ "$1" != footprint ] && [ "$1" != calls ] || need_command valgrind valgrind valgrind
install_missing
# nginx's worker runs as another user if its master runs as root.
mkdir -m 755 "$work/servers"
chmod a+x "$work"
if [ "$product" = WebSocketBenchmark ]; then
    build_product NIOWebSocketBenchmark
    nio=$built/NIOWebSocketBenchmark
    cd "$root"
    source Playground/libcurl.sh
    use_libcurl "$other"
    build_product "$product"
    cc -O2 -Wall -o "$work/echo" "$here/Reference/websocket_echo.c"
    cc -O2 -Wall -o "$work/c" "$here/Reference/websocket.c" $(pkg-config --cflags --libs libcurl)
    ulimit -n "$(ulimit -H -n)"
    python3 "$here/websocket.py" "$work/echo" --rounds "${ROUNDS:-5}" -- \
        "ours=$built/WebSocketBenchmark" "c=$work/c" "nio=$nio"
    exit
fi
build_product "$product"
if [ "$product" = CancelBenchmark ]; then
    python3 "$here/server.py" "$work/servers" taskset -c 1 "$built/$product" {plain}/large "$count"
    exit
fi
if [ "$1" = calls ]; then
    python3 "$here/calls.py" "$work/servers" "${@:2}" -- "$built/$product"
    exit
fi
if [ "$product" = APIBenchmark ]; then
    python3 "$here/api.py" "$work/servers" --rounds "${ROUNDS:-9}" --count "${COUNT:-10000}" --cases "${@:2}" -- \
        "$built/$product"
    exit
fi
if [ "$product" = FleetBenchmark ]; then
    cc -O2 -Wall -o "$work/gets" "$here/Reference/redis_gets.c" $(pkg-config --cflags --libs hiredis libuv)
    python3 "$here/fleet.py" "$work/servers" "$built/$product" "$work/gets" --rounds "${ROUNDS:-7}" \
        --count "${COUNT:-500000}"
    exit
fi
build_reference "$work/reference"
if [ "$1" = footprint ]; then
    ours=$built/$product
    build_product APIBenchmark
    cc -O2 -o "$work/neighbour" "$here/Reference/neighbour.c"
    python3 "$here/footprint.py" "$work/servers" --rounds "${ROUNDS:-3}" -- \
        "c=$work/reference" "ours=$ours" "api=$built/APIBenchmark" "neighbour=$work/neighbour"
    exit
fi
programs=("c=$work/reference" "ours=$built/HTTPBenchmark")
if [ -n "${other:-}" ]; then
    cd "$root"
    source Playground/libcurl.sh
    use_libcurl "$other"
    build_product "$product"
    build_reference "$work/reference-$other"
    # The servers keep the system's libcurl.
    for program in "c@$other=$work/reference-$other" "ours@$other=$built/HTTPBenchmark"; do
        wrapper=$work/${program%%=*}
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$LD_LIBRARY_PATH" "${program#*=}" >"$wrapper"
        chmod +x "$wrapper"
        programs+=("${program%%=*}=$wrapper")
    done
    unset LD_LIBRARY_PATH
    cases=("${@:3}")
    [ ${#cases[@]} -gt 0 ] || cases=(get-1 get-64 http2-1 http2-64)
else
    build_product AsyncHTTPClientBenchmark
    programs+=("ahc=$built/AsyncHTTPClientBenchmark")
    build_product URLSessionBenchmark
    programs+=("urlsession=$built/URLSessionBenchmark")
    cases=("${@:2}")
fi
python3 "$here/http.py" "$work/servers" --rounds "${ROUNDS:-5}" --cases ${cases[@]+"${cases[@]}"} -- "${programs[@]}"
