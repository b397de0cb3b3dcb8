public import RxHTTP

/// The way in which a stream continues after a connection that ended before the stream did.
///
/// ```swift
/// client.events(Answer(to: prompt), until: .data("[DONE]"), resumption: .next { received in
///     Answer(to: prompt, continuing: received.items.map(\.data).joined())
/// })
/// ```
public struct StreamResumption<Item: Sendable>: Sendable {
    enum Continuation: Sendable {
        case never
        /// The same request with the last id; `isForced` disregards whether it may be sent twice.
        case lastEventID(isForced: Bool)
        case next(keeping: Int, @Sendable (ReceivedItems<Item>) -> (any Endpoint)?)
    }

    let continuation: Continuation

    /// The continuation of a stream that is not an event stream: no request names an id.
    var withoutIDs: Continuation { if case .lastEventID = continuation { .never } else { continuation } }

    /// One connection only: the stream ends or fails with it.
    public static var never: StreamResumption { StreamResumption(continuation: .never) }

    /// A new connection to the endpoint that `endpoint` makes from the received items; `nil` for no further
    /// connection, so that the stream ends or fails as the last one did.
    ///
    /// The closure is called after each connection that ended before the stream did, unless by an error that
    /// no connection can fix, such as an invalid URL or certificate, or a status that is not temporary.
    /// Temporary are 408, 425, 429, 500, 502, 503, 504, and 413 with `Retry-After`. To give up after a number
    /// of failures, return `nil` by ``ReceivedItems/failures``.
    ///
    /// - Parameters:
    ///   - limit: the most items to keep in memory for the closure, the latest ones. Default: all.
    ///   - endpoint: makes the endpoint of the next connection, in the lane of the subscription.
    public static func next(
        keeping limit: Int = .max,
        _ endpoint: @escaping @Sendable (_ received: ReceivedItems<Item>) -> (any Endpoint)?
    ) -> StreamResumption {
        StreamResumption(continuation: .next(keeping: limit, endpoint))
    }
}

extension StreamResumption where Item == ServerSentEvent {
    /// ``lastEventID`` if the request may be sent twice (``Endpoint/isRepeatable``), otherwise ``never``.
    public static var automatic: StreamResumption {
        StreamResumption(continuation: .lastEventID(isForced: false))
    }

    /// The same request again with the id of the last event (`Last-Event-ID`), whatever its method. Use it for
    /// a POST only if the server does not execute it twice. A request whose body cannot be sent again has one
    /// connection.
    public static var lastEventID: StreamResumption {
        StreamResumption(continuation: .lastEventID(isForced: true))
    }
}
