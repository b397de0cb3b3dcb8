#!/usr/bin/env bash
# Runs the client against servers that others wrote: Django REST framework, datasette, FastAPI, httpbin and caddy, on
# loopback. Installs them first: the Python ones, of the versions in Tests/Services/requirements.txt, in a virtual
# environment of their own.
#
#   Tests/services.sh [arguments of swift test, such as --filter ServiceTests.PagingTests]
set -euo pipefail
cd "$(dirname "$0")/.."

source Playground/install.sh
need_libraries
need_trait_libraries
need_command caddy caddy caddy
need_command python3 python3 python
# Debian has it apart from Python.
python3 -c 'import ensurepip' 2>/dev/null || missing_apt+=(python3-venv)
install_missing

environment=$PWD/.build-services
if ! cmp -s Tests/Services/requirements.txt "$environment/installed.txt"; then
    echo "Installing the services into $environment" >&2
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check -r Tests/Services/requirements.txt
    cp Tests/Services/requirements.txt "$environment/installed.txt"
fi
[ $# -gt 0 ] || set -- --filter '^ServiceTests\.'

# One at a time: each has its own servers, and all of them together have two cores.
SERVICES=$environment/bin WARNINGS_AS_ERRORS=1 ALL_TRAITS=1 swift test --no-parallel "$@"
