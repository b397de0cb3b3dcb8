#!/usr/bin/env bash
# Lets a login that eight processes share expire many times, while some of them are killed and stopped, and responses are
# lost.
#
# STORE is a folder or the URL of a Redis. Without it, the test runs over a temporary folder; and over a Redis of its own,
# if one is installed.
#
#   Tests/fleet.sh [EXPIRIES, default 1000] [SEED, default 1] [STORE]
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_trait_libraries
install_missing

export ALL_TRAITS=1 # read by Package.swift
export TEST_TARGETS=RxFleetTests
export FLEET_EXPIRIES=${1:-1000} FLEET_SEED=${2:-1}
if [ $# -ge 3 ]; then export FLEET_STORE=$3; fi
swift test --filter RxFleetTests.FleetProcessTests
