@testable import TestServers

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A plain blocking client, so that the servers are not tested by what they are there to test.
struct Client: ~Copyable {
    let descriptor: Descriptor

    init(port: UInt16) throws { descriptor = try .connected(to: port) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard unsafe write(descriptor.raw, bytes, bytes.count) == bytes.count else {
            throw SystemError("write")
        }
    }

    /// At most `limit` bytes of what comes until the server closes; throws when it resets.
    func receive(limit: Int = .max) throws -> String {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while all.count < limit {
            let count = unsafe read(descriptor.raw, &part, min(part.count, limit - all.count))
            guard count >= 0 else { throw SystemError("read") }
            if count == 0 { break }
            all += part.prefix(count)
        }
        return String(decoding: all, as: UTF8.self)
    }
}
