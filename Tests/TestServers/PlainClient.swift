#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A plain blocking connection to a port of 127.0.0.1, so that servers can be tested without the client under
/// test.
public struct PlainClient: ~Copyable {
    private let descriptor: Descriptor

    /// Connects.
    public init(port: UInt16) throws(SystemError) { descriptor = try .connected(to: port) }

    /// Sends the text on a new connection and returns all bytes until the server closes. It blocks a separate
    /// thread, not one that a server in this process may need to answer.
    public static func exchange(_ text: String, port: UInt16) async throws -> String {
        String(decoding: try await exchange(Array(text.utf8), port: port), as: UTF8.self)
    }

    /// Sends the bytes on a new connection and returns all bytes until the server closes.
    public static func exchange(_ bytes: [UInt8], port: UInt16) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try JoinableThread {
                    continuation.resume(
                        with: Result {
                            let client = try PlainClient(port: port)
                            try client.send(bytes)
                            return try client.receiveBytes()
                        })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Sends the text unchanged.
    public func send(_ text: String) throws(SystemError) { try send(Array(text.utf8)) }

    /// Sends the bytes.
    public func send(_ bytes: [UInt8]) throws(SystemError) {
        guard unsafe systemWrite(descriptor.raw, bytes, bytes.count) == bytes.count else {
            throw SystemError("send")
        }
    }

    /// The same as ``receiveBytes(limit:)``, as text.
    public func receive(limit: Int = .max) throws(SystemError) -> String {
        String(decoding: try receiveBytes(limit: limit), as: UTF8.self)
    }

    /// Returns at most `limit` bytes of the data until the server closes; throws if it resets.
    public func receiveBytes(limit: Int = .max) throws(SystemError) -> [UInt8] {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while all.count < limit {
            let count = unsafe read(descriptor.raw, &part, min(part.count, limit - all.count))
            guard count >= 0 else { throw SystemError("read") }
            if count == 0 { break }
            all += part.prefix(count)
        }
        return all
    }
}
