#!/usr/bin/env bash
# Kills a program with an outbox many times, and measures how many entries it stores and delivers in a second.
#
#   Tests/outbox.sh [kills, default 10000] [entries, default 20000] [measurements, default 3]
#
# The folders are made in TMPDIR. With 0 kills it only measures. With the path of a probe in OUTBOX_PROBE it builds none.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_trait_libraries
install_missing

export ALL_TRAITS=1 # read by Package.swift
export TEST_TARGETS=RxOutboxTests
if [ -z "${OUTBOX_PROBE:-}" ]; then
    swift build -c release --product outbox-probe
    OUTBOX_PROBE="$(swift build -c release --show-bin-path)/outbox-probe"
fi
export OUTBOX_PROBE
if [ "${1:-10000}" -gt 0 ]; then
    OUTBOX_KILLS=${1:-10000} swift test --filter RxOutboxTests.CrashTests
fi

count=${2:-20000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The durability of the store: `machine` waits for the disk (PRAGMA synchronous = FULL), `process` does not (NORMAL).
for durability in machine process; do
    place="$durability, $(stat -f -c %T "$folder" 2>/dev/null || echo 'unknown file system')"
    for ((turn = 1; turn <= ${3:-3}; turn++)); do
        { "$OUTBOX_PROBE" count "$folder/$durability" "$count" "$durability"
          "$OUTBOX_PROBE" deliver "$folder/$durability" 64 "$durability"; } |
            awk -v place="$place" -v count="$count" '
                { printf "%s: %d entries %s a second, %d µs of processor time each\n", place, $2 / $3, $1, $4 / $2 * 1e6 }
                $2 != count || $5 + 0 != 0 { printf "%s of %d entries %s, %d dead\n", $2, count, $1, $5; failed = 1 }
                END { exit failed || NR != 2 }'
        rm -rf "${folder:?}/$durability"
    done
done
