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
        var ends: [CInt] = [-1, -1]
        try withoutSpawning { () throws(SystemError) in
            guard unsafe pipe(&ends) == 0 else { throw SystemError("pipe") }
            for end in ends { closeOnExec(end) }
        }
        let reading = Descriptor(ends[0])
        let writing = Descriptor(ends[1])
        child = Mutex(
            try Self.spawn(
                ["/bin/sh", "-c", script], environment: environment,
                descriptors: [(reading.raw, 0)] + descriptors.enumerated().map { ($1, CInt($0 + 3)) }))
        lifeline = Mutex(writing)
    }

    deinit { stop() }

    /// Closes the script's input and waits until it has cleaned up.
    func stop() {
        lifeline.withLock { $0 = nil }
        guard let child = child.withLock({ $0.take() }) else { return }
        while waitpid(child, nil, 0) < 0, errno == EINTR {}
    }

    private static func spawn(
        _ arguments: [String], environment: [String: String], descriptors: [(from: CInt, to: CInt)]
    ) throws(SystemError) -> pid_t {
        // First to numbers above all targets, so that no copy lands on a source that is still needed.
        var sources: [CInt] = []
        defer { for source in sources { close(source) } }
        for descriptor in descriptors {
            let source = fcntl(descriptor.from, F_DUPFD_CLOEXEC, CInt(descriptors.count + 3))
            guard source >= 0 else { throw SystemError("fcntl") }
            sources.append(source)
        }
        #if canImport(Glibc)
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for (source, target) in zip(sources, descriptors.map(\.to)) {
            unsafe posix_spawn_file_actions_adddup2(&actions, source, target)
        }
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))

        // The array ends with nil and owns its strings until the call has copied them.
        var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var envp = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (argv + envp).forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let code = withoutSpawning {
            unsafe posix_spawn(&pid, arguments[0], &actions, &attributes, &argv, &envp)
        }
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        return pid
    }
}
