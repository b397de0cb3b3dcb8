import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file descriptor that is closed with its owner.
struct Descriptor: ~Copyable, Sendable {
    let raw: CInt

    init(_ raw: CInt) { self.raw = raw }

    /// Takes the result of a call that gives a descriptor or −1, and throws its `errno`.
    init(checking raw: CInt, of call: String) throws(SystemError) {
        guard raw >= 0 else { throw SystemError(call) }
        self.raw = raw
    }

    /// A second descriptor of the same file, numbered `least` or higher and closed on exec.
    func duplicate(from least: CInt) throws(SystemError) -> Descriptor {
        try Descriptor(checking: fcntl(raw, F_DUPFD_CLOEXEC, least), of: "fcntl")
    }

    deinit { close(raw) }
}

/// What is written to one end is read at the other. Child processes inherit neither.
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

/// Held while a new descriptor has no close-on-exec flag yet, and while a child process is made. A child that
/// inherited a connection would keep it open after its server closed it.
private let spawning = Mutex(())

/// Runs `body` while no child process is made by this module.
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
    /// Its `errno`.
    public let code: CInt

    init(_ call: String, code: CInt = errno) {
        self.call = call
        self.code = code
    }

    /// The call and the system's text for the error.
    public var description: String { "\(call): \(unsafe String(cString: strerror(code)))" }
}
