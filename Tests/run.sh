#!/usr/bin/env bash
# Builds everything with warnings as errors and runs all tests.
#
#   Tests/run.sh [--sanitize thread|address] [arguments of swift test, such as --filter Paging]
set -euo pipefail
cd "$(dirname "$0")/.."

build=()
if [ "${1:-}" = --sanitize ]; then
    case "${2:-}" in
    # A build of its own, so that the other need not be made again.
    thread | address) build=(--sanitize "$2" --scratch-path ".build-$2") ;;
    *)
        echo "usage: Tests/run.sh [--sanitize thread|address] [arguments of swift test]" >&2
        exit 2
        ;;
    esac
    shift 2
fi

source Playground/install.sh
need_libraries
need_command nginx nginx-light nginx
need_command openssl openssl openssl
install_missing

export WARNINGS_AS_ERRORS=1 # read by Package.swift
swift build --build-tests ${build[@]+"${build[@]}"}
swift test --skip-build ${build[@]+"${build[@]}"} "$@"
