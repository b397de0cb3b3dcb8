#!/usr/bin/env bash
# Runs the tests of the inspector with its page of streams in headless Chromium, which it installs. The screenshots are in
# .build/inspector. Passes its arguments to Tests/run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_command chromium chromium chromium
install_missing

Tests/run.sh --filter '^RxInspectorTests\.' "$@"
