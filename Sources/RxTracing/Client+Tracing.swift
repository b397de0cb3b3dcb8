#if Tracing
public import RxClient
import RxHTTP
public import RxLite
public import Tracing

extension Client {
    /// Traces the calls that begin from now on, until the subscription is cancelled or the client is released.
    ///
    /// ```swift
    /// client.traceCalls()
    /// ```
    ///
    /// A call is one span, whose parent is the context of the task that subscribes (`ServiceContext.current`), on
    /// whatever loop the call runs, and however many requests it takes: attempts, logins, redirects. Each page of a list and
    /// each connection of an event source is a call. Each exchange is a child of it, of the kind `client`, with the names and attributes of OpenTelemetry's [conventions
    /// for HTTP client spans](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span). The
    /// tracer adds its fields, such as `traceparent`, to each request.
    ///
    /// No attribute is secret: URLs have neither user info nor query, and errors no text of the server. Baggage is not
    /// sent to another origin than that of the service.
    ///
    /// - Parameter tracer: makes the spans and sends their context. Default `nil`: the tracer and the instrument of
    ///   the task or of the program, as they are now.
    @discardableResult
    public func traceCalls(with tracer: (any Tracer)? = nil) -> Subscription {
        ContextBox.capture()
        return attach(
            TracingInstrument(
                tracer ?? InstrumentationSystem.tracer,
                sending: tracer ?? InstrumentationSystem.instrument,
                on: transport.scheduler))
    }
}
#else
public import RxClient

extension Client {
    /// Not available without the package's trait `Tracing`.
    @available(*, unavailable, message: "RxTracing needs the trait Tracing of the package RxNetworking")
    public func traceCalls() {
        // The compiler refuses every call.
        fatalError("unavailable")
    }
}
#endif
