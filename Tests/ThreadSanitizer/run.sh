#!/bin/sh
# Runs the stream tests under ThreadSanitizer: Tests/ThreadSanitizer/run.sh [filter]
set -eu
cd "$(dirname "$0")/../.."
scratch=.build-tsan
swift build --build-tests --sanitize=thread --scratch-path "$scratch"
clang -shared -fPIC -O1 Tests/ThreadSanitizer/SwiftMutex.c -o "$scratch/SwiftMutex.so" -ldl
# A million streams on small stacks have no threads to race with, and the sanitizer's frames do not fit there.
LD_PRELOAD="$PWD/$scratch/SwiftMutex.so" "$scratch/debug/RxNetworkingPackageTests.xctest" \
    --testing-library swift-testing --filter "${1:-RxLiteTests|RxTestingTests}" --skip StackTests
