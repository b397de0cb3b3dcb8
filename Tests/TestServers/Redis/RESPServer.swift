import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A server on loopback that reads commands as Redis does, and replies as a test says, also wrongly.
public final class RESPServer: Sendable {
    /// A command of a client.
    public struct Command: Sendable, Equatable {
        /// Counts the connections from 0.
        public let connection: Int
        /// The name and the arguments.
        public let words: [String]

        /// The name in capitals.
        public var name: String { words.first?.uppercased() ?? "" }
    }

    /// A part of the reply to a command.
    public enum Step: Sendable {
        /// Sends a text.
        case send(String)
        /// Sends bytes.
        case bytes([UInt8])
        /// Sends a text in pieces of so many bytes.
        case pieces(String, of: Int)
        /// Waits for a gate.
        case wait(Gate)
        /// Closes the connection.
        case close
    }

    /// The port on 127.0.0.1.
    public let port: UInt16
    /// The commands so far.
    public let commands = Board<[Command]>([])
    private let open = Mutex<[Int: CInt]>([:])
    private let stopping: Gate
    private let accepting: Mutex<JoinableThread?>

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - port: a port that an earlier server has used. Default: any free one.
    ///   - answer: the reply to each command. Called on the thread of the connection.
    public init(
        port: UInt16 = 0, answer: @escaping @Sendable (Command) -> [Step]
    ) throws(SystemError) {
        let listener = try Listener(port: port)
        let stopping = try Gate()
        self.stopping = stopping
        self.port = listener.port
        accepting = Mutex(nil)
        let count = Atomic<Int>(0)
        let counter = ConnectionCounter(count: count)
        let acceptor = ConnectionAcceptor(listener, stopping: stopping) { [weak self] client in
            self?.serve(client, counter.next(), stopping, answer)
        }
        let thread = try JoinableThread { acceptor.run() }
        accepting.withLock { $0 = thread }
    }

    deinit { stop() }

    /// Closes all connections and returns when the threads have ended.
    public func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
        commands.stop()
    }

    /// Sends bytes on all connections, as pushes are sent.
    public func push(_ text: String) {
        open.withLock { open in
            for raw in open.values {
                let bytes = Array(text.utf8)
                _ = unsafe bytes.withUnsafeBytes { unsafe write(raw, $0.baseAddress, $0.count) }
            }
        }
    }

    /// The commands with this name.
    public func commands(named name: String) -> [Command] { commands.contents.filter { $0.name == name } }

    private final class ConnectionCounter: Sendable {
        private let count: Atomic<Int>

        init(count: consuming Atomic<Int>) { self.count = count }

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    // MARK: - One connection

    private func serve(_ client: CInt, _ number: Int, _ stop: Gate, _ answer: (Command) -> [Step]) {
        // The acceptor closes the original.
        let copy = dup(client)
        guard copy >= 0 else { return }
        open.withLock { $0[number] = client }
        defer { open.withLock { $0[number] = nil } }
        let socket = ConnectionSocket(Descriptor(copy), stop: stop)
        var reader = CommandReader()
        do throws(RawServer.End) {
            while true {
                while let words = try reader.next() {
                    let command = Command(connection: number, words: words)
                    let steps = answer(command)
                    commands.update { $0.append(command) }
                    for step in steps where try !perform(step, on: socket) { return }
                }
                reader.append(try socket.receive())
            }
        } catch {}
    }

    /// False if the connection ends.
    private func perform(_ step: Step, on socket: borrowing ConnectionSocket) throws(RawServer.End) -> Bool {
        switch step {
        case .send(let text): try socket.send(Array(text.utf8), stalled: {}, progress: { _ in })
        case .bytes(let bytes): try socket.send(bytes, stalled: {}, progress: { _ in })
        case .pieces(let text, let size):
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try socket.send(
                    bytes[start..<min(bytes.count, start + size)], stalled: {}, progress: { _ in })
            }
        case .wait(let gate): try socket.wait(for: gate)
        case .close: return false
        }
        return true
    }
}

/// Reads commands: `*2`, `$3`, `GET`, `$1`, `a`, each line with CR LF.
private struct CommandReader {
    private var bytes: [UInt8] = []

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// The next command, if all of it is there.
    mutating func next() throws(RawServer.End) -> [String]? {
        var rest = bytes[...]
        guard let count = try Self.number(UInt8(ascii: "*"), &rest) else { return nil }
        var words: [String] = []
        for _ in 0..<count {
            guard let length = try Self.number(UInt8(ascii: "$"), &rest) else { return nil }
            guard rest.count >= length + 2 else { return nil }
            words.append(String(decoding: rest.prefix(length), as: UTF8.self))
            rest = rest.dropFirst(length)
            guard rest.prefix(2) == [13, 10] else { throw .malformedRequest("no line end after an argument") }
            rest = rest.dropFirst(2)
        }
        bytes = Array(rest)
        return words
    }

    private static func number(_ type: UInt8, _ rest: inout ArraySlice<UInt8>) throws(RawServer.End) -> Int? {
        guard let end = rest.firstIndex(of: 10) else { return nil }
        let line = rest[..<end]
        guard line.first == type, line.last == 13,
            let number = Int(String(decoding: line.dropFirst().dropLast(), as: UTF8.self)), number >= 0
        else { throw .malformedRequest("not a command") }
        rest = rest[(end + 1)...]
        return number
    }
}

extension RESPServer {
    /// The reply of a Redis to `HELLO 3`.
    public static func hello(mode: String = "standalone", role: String = "master") -> String {
        let fields = [
            ("server", "$5\r\nredis"), ("version", "$6\r\n7.0.15"), ("proto", ":3"), ("id", ":7"),
            ("mode", "$\(mode.utf8.count)\r\n\(mode)"), ("role", "$\(role.utf8.count)\r\n\(role)"),
            ("modules", "*0"),
        ]
        return "%\(fields.count)\r\n"
            + fields.map { "$\($0.utf8.count)\r\n\($0)\r\n\($1)\r\n" }.joined()
    }

    /// A bulk string.
    public static func bulk(_ text: String) -> String { "$\(text.utf8.count)\r\n\(text)\r\n" }

    /// The reply to a command that a test has no other for: of the handshake, and of subscriptions.
    public static func usual(_ command: Command) -> [Step] {
        switch command.name {
        case "HELLO": [.send(hello())]
        case "SELECT", "CLIENT": [.send("+OK\r\n")]
        case "PING": [.send("+PONG\r\n")]
        case "SUBSCRIBE", "UNSUBSCRIBE":
            [.send(">3\r\n\(bulk(command.name.lowercased()))\(bulk(command.words[1])):1\r\n")]
        default: [.send("_\r\n")]
        }
    }
}
