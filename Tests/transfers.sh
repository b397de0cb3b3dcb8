#!/usr/bin/env bash
# Moves large files to and from servers that others wrote, over a link that breaks, while clients and servers are killed:
# tus on tuspyserver, resumable-upload and seaweedfs, S3 on seaweedfs and moto, downloads from nginx and caddy. Installs them
# first: the Python ones, of the versions in Tests/Services/transfer-requirements.txt, in a separate virtual environment.
#
#   Tests/transfers.sh [MIB, default 1024] [SEED, default 1] [RUNS, default 1000]
#
# MIB: the size of the files. The link breaks ten times, and clients and servers are killed at random points.
# RUNS: downloads of an object that is replaced meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_trait_libraries
need_command caddy caddy caddy
need_command nginx nginx-light nginx
need_python
install_missing

environment=$PWD/.build-transfers
virtual_environment "$environment" Tests/Services/transfer-requirements.txt

export ALL_TRAITS=1 # read by Package.swift
export TRANSFER_MIB=${1:-1024} TRANSFER_SEED=${2:-1} TRANSFER_RUNS=${3:-1000}
# A large file takes long to digest in a build without optimization. Small ones follow the other tests, and use their build.
if [ "$TRANSFER_MIB" -gt 64 ]; then
    export TEST_TARGETS=RxTransfersTests # read by Package.swift
    swift build -c release --product transfer-probe
    TRANSFER_PROBE=$(swift build -c release --show-bin-path)/transfer-probe
    export TRANSFER_PROBE
fi
swift build --build-tests
# One at a time: each has its own servers, and all of them together have two cores.
SERVICES=$environment/bin TRANSFERS=1 swift test --skip-build --no-parallel \
    --filter '^RxTransfersTests\.(TusServerTests|ObjectServerTests|RangeServerTests|TransferTortureTests|ReplacementTests)'
