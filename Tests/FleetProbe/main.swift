#if Fleet
// A process of a fleet, for tests that kill and stop it.
//
//   fleet-probe STORE NAME login|limits|cache URL
//
// Shares a login, a limit or a cache over STORE, a folder or the URL of a Redis, with the other processes that name the same,
// and sends requests to URL. It answers each line that it reads with `LINE OUTCOME`, and prints `event TEXT` for events.

import RxFleet
import RxNetworking

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Not with print, which buffers lines.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = write(1, bytes, bytes.count)
}

/// The store that an argument names.
func sharedStore(_ place: String) throws -> any SharedStore {
    place.contains("://") ? try RedisStore(place) : FileStore(folder: place)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count == 4 else { exit(2) }
let store = try sharedStore(arguments[0])
switch arguments[2] {
case "login": try await shareLogin(over: store, as: arguments[1], url: arguments[3])
case "limits": try await shareLimit(over: store, as: arguments[1], url: arguments[3])
case "cache": try await shareCache(over: store, as: arguments[1], url: arguments[3])
default: exit(2)
}
#endif
