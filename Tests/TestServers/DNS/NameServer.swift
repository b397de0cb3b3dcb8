#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A DNS server over UDP on port 53 of a loopback address, which requires root. It answers no query before
/// ``release()``, and from then on all of them.
public final class NameServer: Sendable {
    private struct Query {
        let message: [UInt8]
        let question: DNSMessage.Question
        let sender: sockaddr_in
    }

    private struct State {
        var questions: [DNSMessage.Question] = []
        var held: [Query] = []
        var isReleased = false
    }

    private let descriptor: Descriptor
    private let ended: Gate
    private let thread: JoinableThread
    private let board = Board(State())
    /// Names that do not exist; all others have the address 127.0.0.1.
    private let missing: Set<String>
    /// The last byte of the address.
    private let host: UInt8

    /// The address of the server.
    public var address: String { "127.0.0.\(host)" }

    /// Starts a server.
    public init(missing: Set<String> = []) throws(SystemError) {
        var host: UInt8 = 53
        descriptor = try Self.bind(from: &host)
        self.host = host
        self.missing = missing
        ended = try Gate()
        let (socket, end) = (descriptor.raw, ended.descriptor)
        // The loop ends with this object, which outlives neither the gate nor the socket.
        thread = try JoinableThread { [board, missing] in
            Self.serve(socket, until: end) { query in
                let isReleased = board.update { state in
                    state.questions.append(query.question)
                    if !state.isReleased { state.held.append(query) }
                    return state.isReleased
                }
                if isReleased { Self.answer(query, missing: missing, on: socket) }
            }
        }
    }

    deinit {
        release()
        ended.open()
        thread.join()
    }

    /// Binds the first free address from the given one on.
    private static func bind(from host: inout UInt8) throws(SystemError) -> Descriptor {
        while true {
            do throws(SystemError) {
                return try Descriptor.datagramSocket(host: host, port: 53)
            } catch {
                guard error.code == EADDRINUSE, host < 254 else { throw error }
                host += 1
            }
        }
    }

    /// The questions so far.
    public var questions: [DNSMessage.Question] { board.contents.questions }

    /// Waits until there have been this many questions.
    public func receive(_ count: Int) async throws {
        _ = try await board.until { $0.questions.count >= count ? true : nil }
    }

    /// Answers the queries so far, and all later ones.
    public func release() {
        let held = board.update { state in
            state.isReleased = true
            defer { state.held = [] }
            return state.held
        }
        for query in held { Self.answer(query, missing: missing, on: descriptor.raw) }
    }

    private static func serve(_ socket: CInt, until end: CInt, receive: (Query) -> Void) {
        while true {
            var polls = [
                pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
                pollfd(fd: end, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&polls, 2, -1) >= 0 || errno == EINTR, polls[1].revents == 0 else { return }
            var bytes = [UInt8](repeating: 0, count: 1500)
            var sender = sockaddr_in.loopback(port: 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = unsafe sender.withSocketAddress {
                unsafe recvfrom(
                    socket, &bytes, bytes.count, CInt(MSG_DONTWAIT), UnsafeMutablePointer(mutating: $0),
                    &length)
            }
            guard count > 0 else { continue }
            let message = Array(bytes.prefix(count))
            if let question = DNSMessage.question(in: message) {
                receive(Query(message: message, question: question, sender: sender))
            }
        }
    }

    private static func answer(_ query: Query, missing: Set<String>, on socket: CInt) {
        let address: [UInt8]? = missing.contains(query.question.name) ? nil : [127, 0, 0, 1]
        let answer = DNSMessage.answer(to: query.message, query.question, address)
        var sender = query.sender
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe sender.withSocketAddress {
            unsafe _ = sendto(socket, answer, answer.count, CInt(MSG_DONTWAIT), $0, length)
        }
    }
}
