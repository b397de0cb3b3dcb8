#!/usr/bin/env bash
# Builds everything with warnings as errors and runs all tests.
#
#   Tests/run.sh [--sanitize thread|address] [arguments of swift test, such as --filter Paging]
#
# Under a sanitizer these are not run:
#   StackTests     both: they run a million streams on a stack of 256 KiB. A sanitizer's frames are several times as
#                  large and do not fit there; and there is one thread, which has nobody to race with.
#   TakesNoMemory  address: they measure the process, in which the sanitizer keeps what was freed.
#   SoakTests      both, for the same reason.
#   ServiceTests   both: beside the servers of others a sanitizer finds nothing that it does not find beside ours.
# Under a sanitizer the tests of a target run one after the other: it makes them so slow that hundreds of TLS handshakes
# at once, on few cores, take longer than the tests' limits.
# Leaks are not looked for: the leak sanitizer does not see pointers in whose spare bits Swift keeps the case of an enum,
# and reports what they hold; and streams without end, of which the tests have many, live for ever by contract. What
# must be gone is counted by the tests themselves (LiveCount, ContractChecker, ResourceTests).
set -euo pipefail
cd "$(dirname "$0")/.."

# SwiftPM leaves folders behind.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

sanitizer=
build=() run=()
if [ "${1:-}" = --sanitize ]; then
    sanitizer=${2:-}
    case "$sanitizer" in
    thread) run=(--no-parallel --skip StackTests --skip SoakTests) ;;
    address) run=(--no-parallel --skip StackTests --skip TakesNoMemory --skip SoakTests) ;;
    *)
        echo "usage: Tests/run.sh [--sanitize thread|address] [arguments of swift test]" >&2
        exit 2
        ;;
    esac
    # A build of its own, so that the other need not be made again.
    build=(--sanitize "$sanitizer" --scratch-path ".build-$sanitizer")
    shift 2
fi

source Playground/install.sh
need_libraries
need_trait_libraries
need_command nginx nginx-light nginx
need_command openssl openssl openssl
install_missing

export WARNINGS_AS_ERRORS=1 ALL_TRAITS=1 # read by Package.swift
swift build --build-tests ${build[@]+"${build[@]}"}

# glibc fills what is freed: a library that uses it all the same crashes here and not at somebody's. And no more than so
# many tests of a target run at a time: hundreds at once wait so long for two cores that connections run out of time.
environment=(
    ASAN_OPTIONS=detect_leaks=0 MALLOC_PERTURB_=165 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
)
if [ "$sanitizer" = thread ] && [ "$(uname)" = Linux ]; then
    # The compiler of Swift's own toolchain: it is there wherever Swift is.
    swift=$(command -v swift)
    clang=$(dirname "$(readlink -f "$swift")")/clang
    [ -x "$clang" ] || clang=clang
    mutex=$PWD/.build-thread/SwiftMutex.so
    "$clang" -shared -fPIC -O1 -Wall -Werror Tests/ThreadSanitizer/SwiftMutex.c -o "$mutex" -ldl
    environment+=(LD_PRELOAD="$mutex")
fi
test() {
    env "${environment[@]}" swift test --skip-build ${build[@]+"${build[@]}"} ${run[@]+"${run[@]}"} "$@"
}
if [ $# -gt 0 ]; then
    test "$@"
    exit
fi
# One target after the other, each in a process of its own: all 1,000 tests at once wait so long for the two cores that
# servers run out of time, and one target's descriptors and memory are seen by another's tests.
failed=()
for target in Tests/*Tests; do
    name=$(basename "$target")
    echo "== $name"
    if [ "$name" = ServiceTests ]; then
        [ -n "$sanitizer" ] || Tests/services.sh || failed+=("$name")
        continue
    fi
    test --filter "^$name\." || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
