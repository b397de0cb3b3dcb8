import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A running subscription, as its owner sees it.
@frozen
public struct Subscription: Cancellable {
    @usableFromInline let scope: Scope

    @inlinable
    init(scope: Scope) { self.scope = scope }

    /// Whether the stream is still running: neither ended nor cancelled.
    public var isActive: Bool { scope.isOpen }

    /// Stops the stream and tears it down. On the subscription's scheduler nothing is delivered after this
    /// returns; if called from another thread, at most a callback that is already running completes.
    public func cancel() { scope.cancel() }

    /// Pauses the stream: sources that can wait (sequences, bodies, pages) send nothing until ``resume()``.
    /// Calls nest. Thread-safe.
    public func pause() { scope.pauseFromAnywhere() }

    /// Undoes one ``pause()``.
    public func resume() { scope.enter { [scope] in scope.resume() } }

    /// Adds the subscription to `bag`, which will cancel it.
    public func store(in bag: SubscriptionBag) { bag.insert(self) }
}

/// Holds subscriptions and cancels them when it is released.
///
/// ```swift
/// final class GoodsScreen {
///     private let bag = SubscriptionBag()
///     func show() { goods.subscribe { print($0) }.store(in: bag) }   // ends with the screen
/// }
/// ```
public final class SubscriptionBag: Cancellable {
    private struct Contents {
        var subscriptions: [Subscription] = []
        /// Ended subscriptions are removed when the count reaches this, so that a long-lived bag stays as
        /// large as the number of running subscriptions.
        var sweepCount = 16
    }

    private let contents = Mutex(Contents())

    /// Creates an empty bag.
    public init() {}

    deinit { cancel() }

    /// Adds a subscription.
    public func insert(_ subscription: Subscription) {
        contents.withLock { contents in
            contents.subscriptions.append(subscription)
            guard contents.subscriptions.count >= contents.sweepCount else { return }
            contents.subscriptions.removeAll { !$0.isActive }
            contents.sweepCount = max(16, contents.subscriptions.count * 2)
        }
    }

    /// Cancels everything in the bag and empties it. The bag can be used again.
    public func cancel() {
        let subscriptions = contents.withLock { contents in
            let subscriptions = contents.subscriptions
            contents = Contents()
            return subscriptions
        }
        for subscription in subscriptions { subscription.cancel() }
    }
}

/// A running operation that can be cancelled.
public protocol Cancellable: Sendable {
    /// Cancels the operation. Thread-safe, and can be called any number of times; after the end it does
    /// nothing.
    func cancel()
}

// MARK: - Callbacks on an actor

extension Observable {
    /// Starts the stream, with its callbacks on the main actor.
    ///
    /// ```swift
    /// client.get("/goods").decode([Goods].self).subscribe(
    ///     isolatedTo: MainActor.self,
    ///     onNext: { goods in screen.show(goods) },
    ///     onFailure: { error in screen.show(error) })
    /// ```
    ///
    /// Equivalent to `observe(on: ActorScheduler.main)` followed by a subscription. After a cancel on the
    /// main actor, no callback runs.
    ///
    /// - Parameters:
    ///   - actor: the main actor, on which the callbacks run.
    ///   - onNext: receives each value.
    ///   - onFailure: receives the error, if the stream fails. Default `nil`: a failure is an ``UnhandledFailure``.
    ///   - onFinish: called if the stream finishes.
    ///   - fileID: the source file that an ``UnhandledFailure`` names. Default: the caller's.
    ///   - line: the line that an ``UnhandledFailure`` names. Default: the caller's.
    @discardableResult
    public func subscribe(
        isolatedTo actor: MainActor.Type,
        onNext: @escaping @MainActor (Element) -> Void,
        onFailure: (@MainActor (Failure) -> Void)? = nil,
        onFinish: @escaping @MainActor () -> Void = {},
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
        let onFailure = onFailure.map { onFailure in
            { @Sendable error in MainActor.assumeIsolated { onFailure(error) } }
        }
        return observe(on: ActorScheduler.main).subscribe(
            onNext: { value in MainActor.assumeIsolated { onNext(value) } }, onFailure: onFailure,
            onFinish: { MainActor.assumeIsolated { onFinish() } }, fileID: fileID, line: line)
    }

    /// Starts the stream, with its callbacks on `actor`, which they receive as their first argument.
    ///
    /// ```swift
    /// goods.subscribe(isolatedTo: cart) { cart, goods in cart.add(goods) }
    /// ```
    ///
    /// The stream retains the actor until it has ended or been cancelled. For the main actor use
    /// `MainActor.self`.
    ///
    /// - Parameters:
    ///   - actor: the actor on which the callbacks run.
    ///   - onNext: receives each value.
    ///   - onFailure: receives the error, if the stream fails. Default `nil`: a failure is an ``UnhandledFailure``.
    ///   - onFinish: called if the stream finishes.
    ///   - fileID: the source file that an ``UnhandledFailure`` names. Default: the caller's.
    ///   - line: the line that an ``UnhandledFailure`` names. Default: the caller's.
    @discardableResult
    public func subscribe<Receiver: Actor>(
        isolatedTo actor: Receiver,
        onNext: @escaping @Sendable (isolated Receiver, Element) -> Void,
        onFailure: (@Sendable (isolated Receiver, Failure) -> Void)? = nil,
        onFinish: @escaping @Sendable (isolated Receiver) -> Void = { _ in },
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Subscription {
        let onFailure = onFailure.map { onFailure in
            { @Sendable error in actor.assumeIsolated { onFailure($0, error) } }
        }
        return observe(on: ActorScheduler(actor)).subscribe(
            onNext: { value in actor.assumeIsolated { onNext($0, value) } }, onFailure: onFailure,
            onFinish: { actor.assumeIsolated { onFinish($0) } }, fileID: fileID, line: line)
    }
}

// MARK: - Failures that nobody handles

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
        // Swift's own error, unlike those of ``CancellationReporting``, reaches an `onFailure`.
        guard !(error is CancellationError) else { return }
        UnhandledFailure.handler(
            UnhandledFailure(error: error, stream: "\(Self.self)", fileID: "\(fileID)", line: line))
    }
}
