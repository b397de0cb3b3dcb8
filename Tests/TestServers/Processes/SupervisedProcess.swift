import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A shell script that knows when this process has ended, whichever way.
///
/// Its standard input is a pipe into which only this process could write. The kernel closes that with the
/// process, even with a killed one, so a script that reads to the end of its input knows when to clean up.
final class SupervisedProcess: Sendable {
    private let lifeline: Mutex<Descriptor?>
    private let child: Mutex<pid_t?>

    /// Starts `script` with /bin/sh in a process group of its own, so that an interrupt from the terminal
    /// reaches it through the pipe only. `descriptors`, which stay the caller's, are its 3, 4 and so on.
    init(
        script: String, environment: [String: String], descriptors: [CInt]
    ) throws(SystemError) {
        let pipe = try Pipe()
        child = Mutex(
            try spawn(
                ["/bin/sh", "-c", script], environment: environment,
                descriptors: [(pipe.reading.raw, 0)] + descriptors.enumerated().map { ($1, CInt($0 + 3)) }))
        lifeline = Mutex(pipe.writing)
    }

    deinit { stop() }

    /// Closes the script's input and waits until it has cleaned up.
    func stop() {
        lifeline.withLock { $0 = nil }
        guard let child = child.withLock({ $0.take() }) else { return }
        while waitpid(child, nil, 0) < 0, errno == EINTR {}
    }
}
