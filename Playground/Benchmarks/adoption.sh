#!/usr/bin/env bash
# Measures the cost of adopting RxNetworking, and AsyncHTTPClient beside it: a program that prints one typed value, in a
# new package. Called by run.sh.
#
#   adoption.sh ROOT FOLDER
#
# FOLDER is for the packages. Prints a table to stdout: the packages that SwiftPM fetches, the seconds of processor time of
# a clean debug build without fetching, of a debug build after a change of the program, and of a clean release build, and
# the size of the stripped release program in MiB.
set -euo pipefail
root=$1 folder=$2

write_package() {
    mkdir -p "$folder/$1/Sources/App"
    cat >"$folder/$1/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "App", platforms: [.macOS(.v15)], dependencies: [$2],
    targets: [.executableTarget(name: "App", dependencies: [$3])])
END
    cat >"$folder/$1/Sources/App/main.swift"
}

write_package RxNetworking ".package(name: \"RxNetworking\", path: \"$root\")" \
    '.product(name: "RxNetworking", package: "RxNetworking")' <<'END'
import RxNetworking

struct Goods: Decodable, Sendable { let name: String }
let client = Client(baseURL: "http://127.0.0.1:8080")
print(try await client.get("/goods/7").decode(Goods.self).value().name)
END

write_package AsyncHTTPClient \
    '.package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0")' \
    '.product(name: "AsyncHTTPClient", package: "async-http-client"),
    .product(name: "NIOFoundationCompat", package: "swift-nio")' <<'END'
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

struct Goods: Decodable { let name: String }
let request = HTTPClientRequest(url: "http://127.0.0.1:8080/goods/7")
let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
let body = try await response.body.collect(upTo: 1 << 20)
print(try JSONDecoder().decode(Goods.self, from: body).name)
END

# The seconds of processor time of a build, over all cores.
seconds() {
    local TIMEFORMAT='%U %S'
    { time swift build --package-path "$folder/$name" "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }; } \
        2>"$folder/time"
    awk '{ printf "%.0f", $1 + $2 }' "$folder/time"
}

echo "| | packages | clean build, CPU s | build after a change, CPU s | release build, CPU s | program, MiB |"
echo "|---|---:|---:|---:|---:|---:|"
for name in RxNetworking AsyncHTTPClient; do
    swift package --package-path "$folder/$name" resolve >/dev/null 2>&1
    packages=$(find "$folder/$name/.build/checkouts" -mindepth 1 -maxdepth 1 -type d | wc -l)
    clean=$(seconds)
    echo "// A change." >>"$folder/$name/Sources/App/main.swift"
    changed=$(seconds)
    release=$(seconds -c release)
    program=$folder/$name/.build/release/App
    strip "$program" -o "$folder/stripped"
    size=$(stat -c %s "$folder/stripped" | awk '{ printf "%.1f", $1 / 1048576 }')
    echo "| $name | $packages | $clean | $changed | $release | $size |"
done
