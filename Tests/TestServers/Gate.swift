import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A gate that opens once. A scripted connection waits for it; a test opens it.
///
/// It is a pipe whose writing end is closed to open the gate, so that threads can wait in one `poll` for a
/// gate and a socket.
public final class Gate: Sendable {
    private let reading: Descriptor
    private let writing: Mutex<Descriptor?>

    /// Creates a closed gate.
    public init() throws(SystemError) {
        let pipe = try Pipe()
        reading = pipe.reading
        writing = Mutex(pipe.writing)
    }

    /// Opens the gate for current and later waits. A second call has no effect.
    public func open() { writing.withLock { $0 = nil } }

    /// Blocks the calling thread until the gate is open.
    public func wait() {
        var polls = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        while unsafe poll(&polls, 1, -1) < 0, errno == EINTR {}
    }

    /// Readable (at its end) once the gate is open.
    var descriptor: CInt { reading.raw }
}
