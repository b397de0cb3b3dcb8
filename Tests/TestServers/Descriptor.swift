import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A file descriptor that its owner closes.
struct Descriptor: ~Copyable, Sendable {
    let raw: CInt

    init(_ raw: CInt) { self.raw = raw }

    /// Takes the result of a call that returns a descriptor or −1; throws an error with `errno` for −1.
    init(checking raw: CInt, of call: String) throws(SystemError) {
        guard raw >= 0 else { throw SystemError(call) }
        self.raw = raw
    }

    /// A duplicate of the descriptor with a number of at least `least`, closed on exec.
    func duplicate(from least: CInt) throws(SystemError) -> Descriptor {
        try Descriptor(checking: fcntl(raw, F_DUPFD_CLOEXEC, least), of: "fcntl")
    }

    deinit { close(raw) }
}

/// A pipe: bytes written to one end are read at the other. Child processes inherit neither end.
struct Pipe: ~Copyable {
    let reading: Descriptor
    let writing: Descriptor

    init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        try withoutSpawning { () throws(SystemError) in
            guard unsafe pipe(&ends) == 0 else { throw SystemError("pipe") }
            for end in ends { closeOnExec(end) }
        }
        reading = Descriptor(ends[0])
        writing = Descriptor(ends[1])
    }
}

/// Held while a new descriptor does not have the close-on-exec flag yet, and while a child process is
/// created. A child that inherited a connection would keep it open after its server closed it.
private let spawning = Mutex(())

/// Runs `body` while this module creates no child process.
func withoutSpawning<Result: Sendable, Failure: Error>(
    _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try spawning.withLock { _ throws(Failure) in try body() }
}

func closeOnExec(_ raw: CInt) { _ = fcntl(raw, F_SETFD, FD_CLOEXEC) }

/// A system call that failed.
public struct SystemError: Error, CustomStringConvertible {
    /// The name of the call.
    public let call: String
    /// The `errno` of the call.
    public let code: CInt

    init(_ call: String, code: CInt = errno) {
        self.call = call
        self.code = code
    }

    /// The call and the system's message for the error.
    public var description: String { "\(call): \(unsafe String(cString: strerror(code)))" }
}
