#!/usr/bin/env bash
# Eight processes that share a login, a limit or a cache, over files and over a Redis of the tests, if one is installed.
#
#   Tests/fleet.sh [EXPIRIES, default 1000 [SEED, default 1 [STORE]]]
#   Tests/fleet.sh limits [SECONDS, default 30]
#   Tests/fleet.sh cache [KEYS, default 10000]
#
# Expiries: a login expires many times, while processes are killed, stopped and cut off, clocks are set, responses are lost,
# and Redis is killed. STORE is a folder or the URL of a Redis, to be used instead of those of the tests.
#
# limits: requests to a server that allows 100 a second, by its own log; with Redis, without, and with it again.
#
# cache: KEYS responses in all processes, each fetched once; and three removals while they are used.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_trait_libraries
need_command redis-server redis-server redis
# Homebrew's does not work with the programs of the system.
[ "$(uname)" != Linux ] || need_file '/usr/lib/*/faketime/libfaketime.so.1' libfaketime libfaketime
install_missing

export ALL_TRAITS=1 # read by Package.swift
export TEST_TARGETS=RxFleetTests
case "${1:-}" in
limits)
    export FLEET_SECONDS=${2:-30}
    filter='FleetLoadTests/limits'
    ;;
cache)
    export FLEET_KEYS=${2:-10000} FLEET_SECONDS=10
    filter='FleetLoadTests/cache'
    ;;
*)
    export FLEET_EXPIRIES=${1:-1000} FLEET_SEED=${2:-1}
    if [ $# -ge 3 ]; then export FLEET_STORE=$3; fi
    filter=FleetProcessTests
    ;;
esac
swift test --filter "RxFleetTests.$filter"
