import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The part of a ``ChildProcess`` that its thread keeps until the process has ended.
final class ChildReading: Sendable {
    let board = Board(ChildProcess.Record())
    private let process: pid_t
    /// Whether the process has not been reaped, so that its id is still valid.
    private let isUnreaped = Mutex(true)
    private let output: Descriptor
    private let errors: Descriptor

    init(_ process: pid_t, output: consuming Descriptor, errors: consuming Descriptor) {
        self.process = process
        self.output = output
        self.errors = errors
    }

    /// Kills the process group.
    func kill() { send(SIGKILL) }

    /// Stops the process group, and waits until all threads of the process have stopped; until then they run on.
    func stop() {
        send(SIGSTOP)
        var information = unsafe siginfo_t()
        // An end of the process ends the wait as well, and is left to be reaped.
        while unsafe waitid(P_PID, id_t(process), &information, WSTOPPED | WEXITED | WNOWAIT) != 0,
            errno == EINTR
        {}
    }

    /// Sends a signal to the process group.
    func send(_ signal: CInt) {
        isUnreaped.withLock { if $0 { _ = systemKill(-process, signal) } }
    }

    /// Records the output of the process until its end.
    func run() {
        // poll(2) ignores negative descriptors.
        var polls = [output.raw, errors.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while polls.contains(where: { $0.fd >= 0 }) {
            guard unsafe poll(&polls, nfds_t(polls.count), -1) >= 0 else { continue }
            for index in polls.indices where polls[index].fd >= 0 && polls[index].revents != 0 {
                let count = unsafe read(polls[index].fd, &buffer, buffer.count)
                if count > 0 {
                    let part = buffer.prefix(count)
                    board.update { index == 0 ? ($0.output += part) : ($0.errors += part) }
                } else if count == 0 || errno != EINTR {
                    polls[index].fd = -1
                }
            }
        }
        let ending = reap()
        board.update { $0.ending = ending }
    }

    private func reap() -> ChildProcess.Ending {
        // Waits without reaping, so that the process id stays valid and kill() does not wait for the end.
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return isUnreaped.withLock { isUnreaped in
            isUnreaped = false
            var status: CInt = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            // Like the macros WIFEXITED, WEXITSTATUS and WTERMSIG.
            return status & 0x7f == 0 ? .exited((status >> 8) & 0xff) : .signalled(status & 0x7f)
        }
    }
}

private func systemKill(_ process: pid_t, _ signal: CInt) -> CInt { kill(process, signal) }
