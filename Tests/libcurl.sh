#!/usr/bin/env bash
# Builds against another libcurl than the system's, which stays as it is, and runs the tests that reach libcurl, and the
# tour.
#
#   Tests/libcurl.sh [--upgrade] VERSION|all [arguments of swift test, such as --filter RxCurlTests]
#
# With --upgrade it runs what is built for the system's libcurl, as programs do after an upgrade of the system.
#
#   system, 7.88.1   the one that is installed; 7.88.1 is Debian 12's
#   8.14.1           with OpenSSL, from Debian's backports
#   8.14.1-gnutls    with GnuTLS and HTTP/3, from there
#   8.23.0           with OpenSSL and HTTP/3, from the wheel of pycurl on PyPI
#   all              those of the supported range
#
# The tests are told the version and compare it with what runs (RunningLibcurlTests). The packages are unpacked, and the
# build is made, in .build-libcurl-VERSION; remove that to look for a newer package. Works on Debian 12.
#
# For the version with HTTP/3 it installs aioquic, as Tests/Services/quic-requirements.txt has it, into
# .build-services-quic. The tests find its Python by QUIC_PYTHON.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

upgrade=
[ "${1:-}" != --upgrade ] || { upgrade=$1 && shift; }
[ $# -gt 0 ] || usage
version=$1
shift
case "$version" in
all)
    for each in 7.88.1 8.14.1 8.14.1-gnutls 8.23.0; do
        Tests/libcurl.sh $upgrade "$each" "$@"
    done
    exit
    ;;
system) version=$(pkg-config --modversion libcurl) ;;
7.88.1 | 8.14.1 | 8.14.1-gnutls | 8.23.0) ;;
*) usage ;;
esac

source Playground/install.sh
source Playground/libcurl.sh
need_libraries
need_trait_libraries
need_command nginx nginx-light nginx
need_command openssl openssl openssl
need_command caddy caddy caddy
case "$version" in 8.14.1-gnutls | 8.23.0) need_python ;; esac
install_missing
if [ "$version" = 8.14.1-gnutls ]; then
    virtual_environment "$PWD/.build-services-quic" Tests/Services/quic-requirements.txt
    export QUIC_PYTHON=$PWD/.build-services-quic/bin/python
fi

export WARNINGS_AS_ERRORS=1 ALL_TRAITS=1 # read by Package.swift
export EXPECTED_LIBCURL=$version
scratch=.build
[ -n "$upgrade" ] || use_libcurl "$version"

echo "== libcurl $version"
swift build --build-tests --scratch-path "$scratch"
[ -z "$upgrade" ] || upgrade_libcurl "$version"

# As Tests/run.sh has it.
export MALLOC_PERTURB_=165 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
run_tests() { swift test --skip-build --scratch-path "$scratch" "$@"; }
if [ $# -gt 0 ]; then
    run_tests --filter '^RxCurlTests\.RunningLibcurlTests/'
    run_tests "$@"
    exit
fi
# One target after the other, as Tests/run.sh has it.
failed=()
for name in RxHTTPTests RxJSONTests RxCurlTests RxNetworkingTests ConformanceDriverTests FuzzTests; do
    echo "== $name with libcurl $version"
    run_tests --filter "^$name\." || failed+=("$name")
done
"$(swift build --show-bin-path --scratch-path "$scratch")/Playground" || failed+=(tour)
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed with libcurl $version: ${failed[*]}" >&2
    exit 1
fi
