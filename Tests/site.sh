#!/usr/bin/env bash
# Builds the documentation and opens it in headless Chromium, which it installs together with Selenium's driver. The
# screenshot of the landing page is .build/site.png. On Debian; elsewhere the documentation is built only.
set -euo pipefail
cd "$(dirname "$0")/.."

Docs/build.sh .build/site
command -v apt-get >/dev/null || exit 0

source Playground/install.sh
need_command chromium chromium chromium
need_command chromedriver chromium-driver chromedriver
need_python
install_missing
virtual_environment "$PWD/.build-site" Tests/Browser/requirements.txt
.build-site/bin/python Tests/Browser/documentation.py .build/site .build/site.png
