#!/usr/bin/env bash
# Runs the tour's shop with the inspector and opens Chrome's own developer tools against it, in headless Chromium, which
# it installs together with Selenium's driver. The screenshots are in .build/inspector, and the commands that the tools have
# sent, which Tests/RxInspectorTests/Sessions keeps. On Debian; elsewhere nothing is tested.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v apt-get >/dev/null || exit 0

source Playground/install.sh
need_libraries
need_command chromium chromium chromium
need_command chromedriver chromium-driver chromedriver
need_python
install_missing
virtual_environment "$PWD/.build-site" Tests/Browser/requirements.txt
mkdir -p .build/inspector

work=$(mktemp -d)
mkfifo "$work/input"
tour=
finish() {
    [ -z "$tour" ] || kill "$tour" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# The tour waits for a line at its end, which comes when the tests have seen everything.
Playground/run.sh --inspect <"$work/input" >"$work/output" 2>&1 &
tour=$!
exec 3>"$work/input"
until grep -q 'until you press Return' "$work/output"; do
    kill -0 "$tour" 2>/dev/null || { cat "$work/output" >&2; exit 1; }
    sleep 1
done
url=$(sed -n 's/^Network panel.*\(devtools:.*\)$/\1/p' "$work/output")
.build-site/bin/python Tests/Browser/inspector.py "$url" .build/inspector "$work/input"
echo >&3
wait "$tour" || { cat "$work/output" >&2; exit 1; }
tour=
