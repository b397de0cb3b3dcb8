#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Two connected sockets; unlike with a pipe, writing without a reader raises no signal. Child processes
/// inherit neither.
struct SocketPair: ~Copyable {
    let first: Descriptor
    let second: Descriptor

    init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        try withoutSpawning { () throws(SystemError) in
            #if canImport(Glibc)
            let type = CInt(SOCK_STREAM.rawValue)
            #else
            let type = SOCK_STREAM
            #endif
            guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError("socketpair") }
            for end in ends {
                closeOnExec(end)
                #if canImport(Darwin)
                var on: CInt = 1
                _ = unsafe setsockopt(
                    end, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
                #endif
            }
        }
        first = Descriptor(ends[0])
        second = Descriptor(ends[1])
    }
}

/// `send(2)` without SIGPIPE on systems that have a flag for this.
func systemWrite(_ raw: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
    unsafe send(raw, bytes, count, CInt(MSG_NOSIGNAL))
    #else
    unsafe send(raw, bytes, count, 0)
    #endif
}
