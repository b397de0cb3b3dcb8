import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A shell script that notices the end of this process, however it ends.
///
/// Its standard input is a pipe that only this process can write to. The kernel closes it when the process
/// ends, even if it is killed, so a script that reads its input to the end knows when to clean up.
final class SupervisedProcess: Sendable {
    private let lifeline: Mutex<Descriptor?>
    private let child: Mutex<pid_t?>

    /// Starts `script` with /bin/sh in a new process group, so that an interrupt from the terminal reaches it
    /// only through the pipe. The script gets `descriptors` as 3, 4 and so on; the caller keeps its own.
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
