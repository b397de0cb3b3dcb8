#!/usr/bin/env bash
# Runs the client against servers that others wrote: Django REST framework, datasette, FastAPI, httpbin, the WebSockets
# of websockets, aiohttp and wsproto, nginx and caddy, a fleet against Redis and Valkey, logins at five authorization servers,
# and signed requests against SeaweedFS and other signers, on loopback. Installs them first: the Python ones, of the versions
# in Tests/Services/requirements.txt, in a separate virtual environment.
#
#   Tests/services.sh [arguments of swift test, such as --filter ServiceTests.PagingTests]
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_trait_libraries
need_services
install_missing

environment=$PWD/.build-services
virtual_environment "$environment" Tests/Services/requirements.txt
VALKEY=${VALKEY:-$(find "$environment" -name valkey-server -type f | head -1)}
export VALKEY
[ $# -gt 0 ] || set -- --filter '^(ServiceTests\.|RxFleetTests\.RedisStoreTests)'

# One at a time: each has its own servers, and all of them together have two cores.
export WARNINGS_AS_ERRORS=1 ALL_TRAITS=1 # read by Package.swift
swift build --build-tests
SERVICES=$environment/bin swift test --skip-build --no-parallel "$@"
