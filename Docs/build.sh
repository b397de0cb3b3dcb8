#!/usr/bin/env bash
# Builds the documentation into a static site; every warning is an error.
#
#   Docs/build.sh [FOLDER, default .build/site]
#
# Needs only the toolchain: swift-symbolgraph-extract reads the symbols of the built modules, docc makes the pages.
# RxNetworking's part describes everything that `import RxNetworking` brings. Serve FOLDER at the root of a host, for
# example with `python3 -m http.server --directory FOLDER`, or set HOSTING_BASE_PATH to where it will be.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-.build/site}"
site=$(cd "${1:-.build/site}" && pwd)

source Playground/install.sh
need_libraries
need_trait_libraries
install_missing

export ALL_TRAITS=1 # read by Package.swift
for module in RxNetworking RxTesting RxSimulation RxDiskCache RxFleet RxOutbox RxTransfers RxJSON; do swift build --target "$module"; done
modules=$(swift build --show-bin-path)/Modules
target=$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/archives"

clang_modules=()
for map in Sources/C*/module.modulemap .build/checkouts/*/Sources/*SQLite/module.modulemap; do clang_modules+=(-Xcc "-fmodule-map-file=$PWD/$map"); done
reexported=$(sed -n 's/^@_exported public import \(Rx[A-Za-z]*\)$/\1/p' Sources/RxNetworking/*.swift | paste -sd, -)

# convert MODULE CATALOG [options of docc]
convert() {
    local module=$1
    shift
    mkdir "$work/$module"
    swift-symbolgraph-extract -module-name "$module" -target "$target" -I "$modules" "${clang_modules[@]}" \
        "-experimental-allowed-reexported-modules=$reexported" -minimum-access-level public \
        -skip-inherited-docs -skip-synthesized-members -output-dir "$work/$module"
    docc convert "$@" --additional-symbol-graph-dir "$work/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
        --enable-experimental-external-link-support --warnings-as-errors \
        --output-path "$work/archives/$module.doccarchive"
}

convert RxNetworking Sources/RxNetworking/RxNetworking.docc
for module in RxTesting RxSimulation RxDiskCache RxFleet RxOutbox RxTransfers; do
    convert "$module" "Sources/$module/$module.docc" --dependency "$work/archives/RxNetworking.doccarchive"
done
convert RxJSON Sources/RxJSON/RxJSON.docc

docc merge "$work"/archives/*.doccarchive --synthesized-landing-page-name RxNetworking \
    --output-path "$work/merged.doccarchive"
docc process-archive transform-for-static-hosting "$work/merged.doccarchive" \
    --hosting-base-path "${HOSTING_BASE_PATH:-/}" --output-path "$work/site"
rm -rf "${site:?}"
mv "$work/site" "$site"
echo "The documentation is in $site."
