import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A way on loopback to another port that can be cut, as a partition of a network cuts it: what is sent meanwhile waits,
/// nothing is refused, and no connection ends.
public final class Partition: Sendable {
    /// The port on 127.0.0.1 that leads to the other one.
    public let port: UInt16
    private let stopping: Gate
    private let accepting: Mutex<JoinableThread?>
    private let state: State

    private final class State: Sendable {
        private let isCut = Mutex(false)

        var cut: Bool {
            get { isCut.withLock { $0 } }
            set { isCut.withLock { $0 = newValue } }
        }
    }

    /// Opens the way to a port of 127.0.0.1.
    public init(to target: UInt16) throws(SystemError) {
        let listener = try Listener()
        let (stopping, state) = (try Gate(), State())
        (port, self.stopping, self.state) = (listener.port, stopping, state)
        let acceptor = ConnectionAcceptor(listener, stopping: stopping) { client in
            Self.serve(client, to: target, state, stopping)
        }
        accepting = Mutex(try JoinableThread { acceptor.run() })
    }

    deinit { stop() }

    /// Whether nothing gets through. Connections that are made meanwhile are accepted, as by the queue of a kernel.
    public var isCut: Bool {
        get { state.cut }
        set { state.cut = newValue }
    }

    /// Closes all connections and returns when the threads have ended.
    public func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
    }

    // MARK: - One connection

    private static func serve(_ client: CInt, to target: UInt16, _ state: State, _ stop: Gate) {
        guard waitForWay(state, stop), let upstream = try? Descriptor.connected(to: target) else { return }
        let ends = [client, upstream.raw]
        while true {
            var polls = ([stop.descriptor] + ends).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&polls, nfds_t(polls.count), -1) >= 0 else {
                guard errno == EINTR else { return }
                continue
            }
            guard polls[0].revents == 0 else { return }
            // What has arrived while the way is cut stays with the kernel.
            guard !state.cut else {
                guard waitForWay(state, stop) else { return }
                continue
            }
            for (from, to) in [(0, 1), (1, 0)] where polls[from + 1].revents != 0 {
                guard forward(from: ends[from], to: ends[to]) else { return }
            }
        }
    }

    /// False if the connection has to end instead.
    private static func waitForWay(_ state: State, _ stop: Gate) -> Bool {
        while state.cut {
            var polls = [pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)]
            if unsafe poll(&polls, 1, 5) > 0 { return false }
        }
        return true
    }

    /// False at the end of the connection.
    private static func forward(from: CInt, to: CInt) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe recv(from, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        var rest = bytes[..<count]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { unsafe systemWrite(to, $0.baseAddress, $0.count) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }
}
