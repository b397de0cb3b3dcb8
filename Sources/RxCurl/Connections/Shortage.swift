import CLibcurl
import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A shortage of this machine: descriptors, threads or memory.
enum Shortage {
    /// The error number, if it stands for a shortage.
    static func number(_ code: Int32) -> Int32? {
        [EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN].contains(code) ? code : nil
    }

    /// The error number for a descriptor, if the process or the machine has hardly any left.
    ///
    /// libcurl and the system's resolver do not pass on this number. Some descriptors may have been closed since they
    /// failed.
    static func ofDescriptors() -> Int32? {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < 4 {
            let descriptor = socket(AF_UNIX, streams, 0)
            guard descriptor >= 0 else { return number(errno) }
            opened.append(descriptor)
        }
        return nil
    }

    /// The error number if the process has no memory left. libcurl reports texts above its own limits as a lack of
    /// memory, too.
    static func ofMemory() -> Int32? {
        guard let memory = unsafe malloc(1 << 20) else { return ENOMEM }
        unsafe free(memory)
        return nil
    }

    #if canImport(Glibc)
    private static let streams = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
    private static let streams = SOCK_STREAM
    #endif
}

extension Transfer {
    /// The error if a shortage of this machine is the reason why there is no connection.
    func shortage(behind cause: CurlError) -> NetworkError? {
        let number: Int32? =
            switch cause.code {
            case CURLE_COULDNT_CONNECT: attempts.shortage ?? (state.isSent ? nil : cause.systemError)
            case _ where state.isSent: nil
            // libcurl 7.88 reports a name without an address like this if it was looked up over HTTPS for one address
            // family only: ``CurlError/kind(isSent:isLookedUp:)`` then says `resolve`.
            case CURLE_OUT_OF_MEMORY:
                multi.configuration.dnsOverHTTPS != nil && handle?.hasNoAddress == true
                    ? nil : Shortage.ofMemory()
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
                Shortage.ofDescriptors() ?? (cause.message.contains("thread failed to start") ? EAGAIN : nil)
            case CURLE_FAILED_INIT: cause.systemError.flatMap { Shortage.number($0) }
            // A file that cannot be opened.
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CONNECT_ERROR:
                Shortage.ofDescriptors()
            default: nil
            }
        guard let number else { return nil }
        let text = unsafe String(cString: strerror(number))
        var error = error(.resources, "This machine has no resources left for a connection: \(text).", cause)
        error.details = cause.message
        error.systemError = Int(number)
        return error
    }
}
