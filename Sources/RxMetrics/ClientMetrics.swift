#if Metrics
public import CoreMetrics
public import RxClient
import RxHTTP
public import RxLite

extension Client {
    /// Records the metrics of the calls that begin from now on, by the names and attributes of ``ClientMetric``, until
    /// the subscription is cancelled or the client is released.
    ///
    /// ```swift
    /// client.recordMetrics()
    /// ```
    ///
    /// No value is secret: there are neither URLs nor parameters, and of a path only the endpoint's template.
    ///
    /// - Parameters:
    ///   - factory: makes the metrics. Default: the current factory of the task or of the program.
    ///   - templateLimit: the maximum number of different `url.template`; endpoints beyond it are recorded without
    ///     that attribute. It bounds the cost of paths that an app writes with values instead of placeholders.
    ///     Default 500.
    @discardableResult
    public func recordMetrics(
        in factory: any MetricsFactory = MetricsSystem.factory, templateLimit: Int = 500
    ) -> Subscription {
        let instrument = MetricsInstrument(factory, templateLimit: templateLimit)
        instrument.watch(transport.connections)
        return attach(instrument)
    }
}

/// The metrics of a client, by the names under which a factory of swift-metrics gets them.
///
/// Those that begin with `http.client` follow the OpenTelemetry [semantic conventions for HTTP
/// metrics](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#http-client): names, units and attributes.
/// The others are defined by this library.
///
/// Each exchange on the wire counts: each attempt, and each hop of a redirect. Its attributes are
///
/// | Attribute | Value |
/// |---|---|
/// | `http.request.method` | the method; `_OTHER` if neither RFC 9110 nor RFC 5789 defines it |
/// | `server.address`, `server.port`, `url.scheme` | of the request's origin; missing beyond 500 different ones |
/// | `url.template` | the path of the base URL and the endpoint's, with its placeholders, without query; missing for requests without an endpoint, and for redirects to other services |
///
/// With the outcome, there are also `http.response.status_code` if there was a response, `network.protocol.version` if
/// it was complete, and `error.type` if there was an error: the status from 400 on, the `NetworkError.Code`, or
/// `cancelled` if no subscriber waited for the end. Leaving a stream, an event source or a WebSocket that has begun is
/// not an error.
public enum ClientMetric: String, Sendable, Hashable, CaseIterable {
    /// The time of an exchange, from its start to its last byte or its failure; of a WebSocket, to the end of the
    /// handshake. Histogram in seconds, a `Timer`. Stable.
    case requestDuration = "http.client.request.duration"
    /// The number of exchanges that have begun and not ended, a `Meter`. Without attributes of an outcome.
    /// Development.
    case activeRequests = "http.client.active_requests"
    /// The size of the request's body as sent. Histogram in bytes, a `Recorder`. Development.
    case requestBodySize = "http.client.request.body.size"
    /// The size of the response's body as received, before decoding. Histogram in bytes, a `Recorder`. Development.
    case responseBodySize = "http.client.response.body.size"
    /// The number of open connections, a `Meter`. Attributes: `http.connection.state` (`active`, `idle`),
    /// `server.address`, `server.port`, `url.scheme`, `network.peer.address`. Counts the connections that were opened
    /// while the metrics were recorded, until the recording ends, if the transport reports them: `CurlTransport` does.
    /// Beyond 1000 different addresses, connections have only the state. Development.
    case openConnections = "http.client.open_connections"
    /// The lifetime of connections, from the first request to the close. Histogram in seconds, a `Timer`. Attributes
    /// as for ``openConnections``, without the state. Development.
    case connectionDuration = "http.client.connection.duration"

    // Dashboards and the page `Metrics.md` have the names.

    /// The number of retries, a `Counter`; `error.type` has the reason.
    case retries = "rxnetworking.client.retries"
    /// The number of retries that the host's budget refused, a `Counter`; `error.type` has the reason.
    case refusedRetries = "rxnetworking.client.retries.refused"
    /// The number of requests for which the session logged in again, a `Counter`.
    case relogins = "rxnetworking.client.relogins"
    /// The number of second attempts in parallel to a slow one, a `Counter`.
    case hedges = "rxnetworking.client.hedges"
    /// The number of requests that were sent again, to the other server of the service, a `Counter`; `error.type` has
    /// the reason.
    case failovers = "rxnetworking.client.failovers"
    /// The number of responses to which the cache contributed, a `Counter`. `rxnetworking.cache.use` says how:
    /// `fresh`, `stale`, `revalidated`.
    case cachedResponses = "rxnetworking.client.cache.responses"
    /// The number of requests that waited for the response to an equal one, a `Counter`.
    case joinedRequests = "rxnetworking.client.joined"
    /// The time that requests waited, of those that had to. Histogram in seconds, a `Timer`. `rxnetworking.queue`
    /// says what for: `limits`, a place within the client's limits, or `connection`.
    case queueDuration = "rxnetworking.client.queue.duration"
    /// The state of a host's circuit, a `Meter`: 0 closed, 1 half-open, 2 open. Attributes: `server.address`,
    /// `server.port`, `url.scheme`.
    case circuitState = "rxnetworking.client.circuit.state"
    /// The number of loaded pages, a `Counter`.
    case pages = "rxnetworking.client.pages"

    /// The boundaries of the histogram's buckets that the conventions advise, in the metric's unit; `nil` for a metric
    /// that is no histogram, and for sizes, where the conventions advise none.
    ///
    /// swift-metrics has no place for boundaries: configure your backend with them.
    public var buckets: [Double]? {
        switch self {
        case .requestDuration, .queueDuration:
            [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
        case .connectionDuration:
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
        default: nil
        }
    }
}
#else
public import RxClient

extension Client {
    /// Not available without the package's trait `Metrics`.
    @available(
        *, unavailable,
        message: "RxMetrics needs the trait Metrics of the package RxNetworking"
    )
    public func recordMetrics() {
        // The compiler refuses every call.
        fatalError("unavailable")
    }
}
#endif
