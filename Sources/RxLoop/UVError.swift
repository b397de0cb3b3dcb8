import CLibuv

/// A result code of libuv, such as `UV_EBADF`.
///
/// ```swift
/// do { poll = try Poll(on: loop, descriptor: fd) { _, _ in } } catch .alreadyExists { return nil }
/// ```
public struct UVError: Error, RawRepresentable, Hashable, Sendable {
    /// The code; negative.
    public let rawValue: Int32

    /// Wraps a code that libuv returned.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The descriptor is not open (`UV_EBADF`).
    public static let badDescriptor = UVError(rawValue: UV_EBADF.rawValue)
    /// The file already exists (`UV_EEXIST`).
    public static let alreadyExists = UVError(rawValue: UV_EEXIST.rawValue)
    /// The descriptor is of a kind that cannot be polled, or the file belongs to another user (`UV_EPERM`).
    public static let notPermitted = UVError(rawValue: UV_EPERM.rawValue)

    /// The path is a symbolic link that is not followed, or a loop of links (`UV_ELOOP`).
    public static let symbolicLink = UVError(rawValue: UV_ELOOP.rawValue)
    /// There is no such file (`UV_ENOENT`).
    public static let notFound = UVError(rawValue: UV_ENOENT.rawValue)
    /// An argument is invalid, such as the path of a directory where a file is needed (`UV_EINVAL`).
    public static let invalidArgument = UVError(rawValue: UV_EINVAL.rawValue)
    /// Another process or descriptor holds the resource (`UV_EAGAIN`).
    public static let tryAgain = UVError(rawValue: UV_EAGAIN.rawValue)
    /// The operation is not supported, for example by the file system (`UV_ENOTSUP`).
    public static let notSupported = UVError(rawValue: UV_ENOTSUP.rawValue)
    /// The system does not have the call (`UV_ENOSYS`).
    public static let notImplemented = UVError(rawValue: UV_ENOSYS.rawValue)
    /// Cancelled before it was done (`UV_ECANCELED`).
    public static let canceled = UVError(rawValue: UV_ECANCELED.rawValue)

    /// Throws `code` if it is negative, as libuv's failures are.
    static func check(_ code: Int32) throws(UVError) {
        if code < 0 { throw UVError(rawValue: code) }
    }

    /// Matches the error in a `catch` clause: `catch UVError.badDescriptor`.
    public static func ~= (pattern: UVError, error: any Error) -> Bool {
        (error as? UVError) == pattern
    }
}

extension UVError: CustomStringConvertible {
    /// The name and the text of `uv_err_name` and `uv_strerror`: `EBADF: bad file descriptor`.
    public var description: String {
        // The `_r` forms write at most as many bytes as they are told, the terminator included.
        let text = { (write: (UnsafeMutablePointer<CChar>, Int) -> Void) -> String in
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
                guard let start = buffer.baseAddress else { return "" }
                unsafe write(start, buffer.count)
                return unsafe String(cString: start)
            }
        }
        let name = unsafe text { unsafe _ = uv_err_name_r(rawValue, $0, $1) }
        let message = unsafe text { unsafe _ = uv_strerror_r(rawValue, $0, $1) }
        return "\(name): \(message)"
    }
}
