import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A failure that ended a subscription without an `onFailure`.
///
/// ```swift
/// UnhandledFailure.handler = { failure in print("unhandled:", failure) }
/// ```
///
/// Each such subscription reports its failure once, to the ``handler``; a cancellation is not a failure. To accept a
/// failure in silence, pass `onFailure: { _ in }`, or replace it by a value with ``Observable/replaceError(with:)``.
public struct UnhandledFailure: Sendable, CustomStringConvertible {
    /// The failure.
    public let error: any Error
    /// The type of the stream, such as `Observable<Goods, NetworkError>`.
    public let stream: String
    /// The source file of the call of `subscribe`, as `Module/File.swift`.
    public let fileID: String
    /// The line of the call of `subscribe`.
    public let line: UInt

    /// The place, the stream and the failure, in one line.
    public var description: String {
        "\(fileID):\(line): \(stream) failed, and its subscription has no 'onFailure': \(error)"
    }

    /// Receives the unhandled failures of the process, one after another for each subscription, wherever `onFailure`
    /// would have been called. It must not wait.
    ///
    /// Default: debug builds write the ``description`` to the standard error, release builds do nothing.
    public static var handler: @Sendable (UnhandledFailure) -> Void {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    private static let stored = Mutex<@Sendable (UnhandledFailure) -> Void> { failure in
        #if DEBUG
        let bytes = Array("\(failure)\n".utf8)
        // A terminal that takes only a part of the line shows the part.
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
        #endif
    }
}

extension Observable {
    /// Reports the failure of a subscription without `onFailure`.
    @usableFromInline
    static func report(_ error: Failure, fileID: StaticString, line: UInt) {
        guard !(error is CancellationError) else { return }
        UnhandledFailure.handler(
            UnhandledFailure(error: error, stream: "\(Self.self)", fileID: "\(fileID)", line: line))
    }
}
