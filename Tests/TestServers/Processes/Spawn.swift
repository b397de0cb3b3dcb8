#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Starts a program in a new process group, so that an interrupt from the terminal does not reach it.
///
/// The program gets `descriptors` under the numbers `to`, and no others: if it inherited a socket of a server
/// in this process, it would keep the connection open after the server closes it. The caller keeps its
/// descriptors. Foundation's `Process` is not used in tests: on Linux it reads beyond its buffer if a process
/// has very many descriptors.
func spawn(
    _ arguments: [String], environment: [String: String], descriptors: [(from: CInt, to: CInt)]
) throws(SystemError) -> pid_t {
    // First duplicates them above all targets, so that no copy overwrites a source that is still needed.
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
    #if canImport(Glibc)
    let flags = POSIX_SPAWN_SETPGROUP
    _ = unsafe closeFrom?(&actions, max(2, descriptors.map(\.to).max() ?? 2) + 1)
    #else
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT
    #endif
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    // The arrays end with nil and own their strings until the call has copied them.
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

#if canImport(Glibc)
private typealias CloseFrom =
    @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

/// Closes all descriptors from a number on (`posix_spawn_file_actions_addclosefrom_np`, which Swift's
/// Glibc lacks); `nil` before glibc 2.34.
private var closeFrom: CloseFrom? {
    unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        // The C function has this type.
        unsafe unsafeBitCast($0, to: CloseFrom.self)
    }
}
#endif
