@testable import TestServers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A small WebSocket client that blocks its thread, and can be told to behave badly. It offers no extension.
struct EchoClient: ~Copyable {
    /// A way to behave.
    enum Manner: Sendable, CaseIterable {
        case conforming
        /// Sends every message with one octet changed.
        case corrupting
        /// Sends its frames without a mask.
        case unmasked
        /// Closes the connection when a close frame comes, without an answer.
        case dropping
        /// Ignores close frames.
        case silent
        /// Answers close frames with 1003.
        case wrongCode
        /// Does not notice errors of the server.
        case lenient
        /// Answers nothing, and closes the connection as soon as it is open.
        case absent
    }

    private static let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]

    private let descriptor: Descriptor
    private let manner: Manner
    private var reader = FrameReader()
    private var message: [UInt8]?
    private var opcode = Opcode.text

    private init(port: UInt16, _ manner: Manner) throws {
        descriptor = try Descriptor.connected(to: port)
        self.manner = manner
    }

    /// Plays the case with this number on a thread of its own, until the connection has ended.
    static func play(port: UInt16, number: Int, _ manner: Manner) async {
        await withCheckedContinuation { continuation in
            let thread = try? JoinableThread {
                if var client = try? EchoClient(port: port, manner) { client.run(number) }
                continuation.resume()
            }
            if thread == nil { continuation.resume() }
        }
    }

    private mutating func run(_ number: Int) {
        let head = """
            GET \(AutobahnServer.path(of: number)) HTTP/1.1\r
            Host: 127.0.0.1\r
            Upgrade: websocket\r
            Connection: keep-alive, Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            \r\n
            """
        send(Array(head.utf8))
        guard manner != .absent, readHead() else { return }
        while let frame = nextFrame(), handle(frame) {}
    }

    private mutating func readHead() -> Bool {
        var received: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while let bytes = receive() {
            received += bytes
            guard let start = received.indices.first(where: { received[$0...].starts(with: end) }) else {
                continue
            }
            reader.append(Array(received[(start + 4)...]))
            return String(decoding: received, as: UTF8.self).contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        }
        return false
    }

    private mutating func nextFrame() -> Frame? {
        while true {
            guard let next = try? reader.next() else {
                guard let bytes = receive() else { return nil }
                reader.append(bytes)
                continue
            }
            return next.frame
        }
    }

    /// False if the client is done.
    private mutating func handle(_ frame: Frame) -> Bool {
        let isWrong =
            frame.reserved != 0 || frame.opcode.isReserved
            || frame.opcode.isControl && (!frame.isFinal || frame.payload.count > 125)
            || !frame.opcode.isControl && (frame.opcode == .continuation) != (message != nil)
        if isWrong, manner != .lenient { return fail(1002) }
        switch frame.opcode {
        case .close:
            switch manner {
            case .dropping: return false
            case .silent: return true
            case .wrongCode: return fail(1003)
            default: return fail(1000)
            }
        case .ping: send(.pong, frame.payload.bytes)
        case .text, .binary, .continuation:
            if frame.opcode != .continuation { opcode = frame.opcode }
            message = (message ?? []) + frame.payload.bytes
            guard frame.isFinal, var whole = message else { return true }
            message = nil
            if opcode == .text, manner != .lenient, String(validating: whole, as: UTF8.self) == nil {
                return fail(1007)
            }
            if manner == .corrupting, !whole.isEmpty { whole[0] ^= 1 }
            send(opcode, whole)
        default: break
        }
        return true
    }

    /// Sends a close frame and waits for the end of the connection.
    private func fail(_ code: UInt16) -> Bool {
        send(.close, [UInt8(code >> 8), UInt8(code & 0xFF)])
        while receive() != nil {}
        return false
    }

    private func send(_ opcode: Opcode, _ payload: [UInt8]) {
        var bytes: [UInt8] = []
        Frame.encodeHeader(opcode, length: payload.count, isFinal: true, reserved: 0, into: &bytes)
        guard manner != .unmasked else { return send(bytes + payload) }
        bytes[1] |= 0x80
        var masked = payload
        FrameReader.unmask(&masked, Self.mask)
        send(bytes + Self.mask + masked)
    }

    private func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let raw = descriptor.raw
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(raw, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private func receive() -> [UInt8]? {
        let raw = descriptor.raw
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = unsafe max(0, recv(raw, buffer.baseAddress, buffer.count, 0))
        }
        return bytes.isEmpty ? nil : bytes
    }
}
