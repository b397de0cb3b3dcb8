#!/usr/bin/env bash
# Builds everything with warnings as errors and runs all tests.
#
#   Tests/run.sh [--sanitize thread|address] [arguments of swift test, such as --filter Paging]
#
# These are skipped under a sanitizer:
#   StackTests     thread and address: they run a million streams on a stack of 256 KiB, too small for the frames of a
#                  sanitizer; and with a single thread there are no races.
#   TakesNoMemory  address: they measure the memory of the process, in which the sanitizer keeps freed memory.
#   SoakTests      thread and address, for the same reason.
#   KilledRecordingTests
#                  thread and address: the limit of file sizes, by which they kill, strikes the sanitizer itself.
#   ServiceTests   thread and address: a sanitizer finds nothing with other people's servers that it does not find with
#                  the servers of the tests.
# Under a sanitizer the tests of a target run one after another, because it makes them so slow that hundreds of
# simultaneous TLS handshakes on few cores exceed the tests' time limits.
# Leak detection is off: the leak sanitizer does not recognize pointers in whose spare bits Swift stores the case of an
# enum, and reports the objects they refer to; and streams without end, which many tests use, are never released, by
# contract. The tests themselves count the objects that must be released (LiveCount, ContractChecker, ResourceTests).
set -euo pipefail
cd "$(dirname "$0")/.."

# SwiftPM leaves temporary folders behind.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

sanitizer=
build=() run=()
if [ "${1:-}" = --sanitize ]; then
    sanitizer=${2:-}
    case "$sanitizer" in
    thread) run=(--no-parallel --skip StackTests --skip SoakTests --skip KilledRecordingTests) ;;
    address)
        run=(--no-parallel --skip StackTests --skip TakesNoMemory --skip SoakTests --skip KilledRecordingTests)
        ;;
    *)
        echo "usage: Tests/run.sh [--sanitize thread|address] [arguments of swift test]" >&2
        exit 2
        ;;
    esac
    # A separate build folder, so that the normal build is kept.
    build=(--sanitize "$sanitizer" --scratch-path ".build-$sanitizer")
    shift 2
fi

source Playground/install.sh
need_libraries
need_trait_libraries
need_command nginx nginx-light nginx
need_command openssl openssl openssl
# What the last target needs, so that a machine on which it cannot be installed is known before the long build.
[ $# -gt 0 ] || [ -n "$sanitizer" ] || need_services
install_missing

export WARNINGS_AS_ERRORS=1 ALL_TRAITS=1 # read by Package.swift
swift build --build-tests ${build[@]+"${build[@]}"}

# glibc overwrites freed memory, so that a library that still uses it crashes here and not at a user's. The number of
# parallel tests is limited, because hundreds of tests wait so long for two cores that connections time out.
# The tests see sets and dictionaries in any order, the build does not (Playground/install.sh).
environment=(
    -u SWIFT_DETERMINISTIC_HASHING
    ASAN_OPTIONS=detect_leaks=0 MALLOC_PERTURB_=165 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
)
if [ "$sanitizer" = thread ] && [ "$(uname)" = Linux ]; then
    # The compiler of the Swift toolchain, which is installed with Swift.
    swift=$(command -v swift)
    clang=$(dirname "$(readlink -f "$swift")")/clang
    [ -x "$clang" ] || clang=clang
    mutex=$PWD/.build-thread/SwiftMutex.so
    "$clang" -shared -fPIC -O1 -Wall -Werror Tests/ThreadSanitizer/SwiftMutex.c -o "$mutex" -ldl
    environment+=(LD_PRELOAD="$mutex")
fi
run_tests() {
    env "${environment[@]}" ${limit[@]+"${limit[@]}"} swift test --skip-build ${build[@]+"${build[@]}"} \
        ${run[@]+"${run[@]}"} "$@"
}
limit=()
if [ $# -gt 0 ]; then
    run_tests "$@"
    exit
fi
# A test that never ends would keep all others from being run.
if [ -z "$sanitizer" ] && command -v timeout >/dev/null; then limit=(timeout --kill-after 10 900); fi
# The tests of a log that have begun, and not ended.
unfinished() {
    sed -nE 's/^[^ ]+ Test ([^ ]+\)) started\.$/\1/p' "$1" | while read -r test; do
        grep -qF -e "Test $test passed" -e "Test $test failed" -e "Test $test with" "$1" || echo "did not end: $test"
    done
}
# One target after another, each in a separate process: all 1,000 tests at once wait so long for two cores that servers
# time out, and the tests of one target would measure the descriptors and memory of another.
failed=()
for target in Tests/*Tests; do
    name=$(basename "$target")
    echo "== $name"
    if [ "$name" = ServiceTests ]; then
        [ -z "$sanitizer" ] || continue
        command=(Tests/services.sh)
    else
        command=(run_tests --filter "^$name\.")
    fi
    "${command[@]}" 2>&1 | tee "$TMPDIR/log" || {
        failed+=("$name")
        {
            grep '✘' "$TMPDIR/log" || true
            unfinished "$TMPDIR/log"
        } >>"$TMPDIR/failures"
    }
done
if [ ${#failed[@]} -gt 0 ]; then
    # Once more at the end, where they are found.
    cat "$TMPDIR/failures" >&2
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
