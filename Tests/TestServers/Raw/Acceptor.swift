#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Accepts connections and starts a thread for each, until the server stops; then waits for these threads.
final class Acceptor: Sendable {
    private let listener: Listener
    private let script: RawServer.Script
    private let stopping: Gate
    private let board: RecordBoard

    init(_ listener: consuming Listener, script: RawServer.Script, stopping: Gate, board: RecordBoard) {
        self.listener = listener
        self.script = script
        self.stopping = stopping
        self.board = board
    }

    func run() {
        var threads: [JoinableThread] = []
        while let descriptor = accepted() {
            threads.removeAll { thread in
                guard thread.isFinished else { return false }
                thread.join()
                return true
            }
            let index = board.update { record in
                record.connections.append(.init())
                return record.connections.count - 1
            }
            do {
                threads.append(
                    try JoinableThread { [script, stopping, board] in
                        let socket = ConnectionSocket(Descriptor(descriptor), stop: stopping)
                        ScriptedConnection(index, socket, board: board).play(script)
                    })
            } catch {
                close(descriptor)
                board.update { $0.connections[index].end = .stopped }
            }
        }
        for thread in threads { thread.join() }
    }

    /// Accepts a connection; `nil` if the server stops or can accept no more.
    private func accepted() -> CInt? {
        while true {
            var polls = [
                pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.descriptor.raw, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&polls, nfds_t(polls.count), -1) >= 0 || errno == EINTR else { return nil }
            if polls[0].revents != 0 { return nil }
            if polls[1].revents == 0 { continue }
            let raw = withoutSpawning {
                let raw = accept(listener.descriptor.raw, nil, nil)
                if raw >= 0 { closeOnExec(raw) }
                return raw
            }
            if raw >= 0 { return raw }
            // A client that has already gone does not end the server.
            guard errno == ECONNABORTED || errno == EINTR else { return nil }
        }
    }
}
