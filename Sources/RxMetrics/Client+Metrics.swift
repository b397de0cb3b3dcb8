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
    ///   - factory: makes the metrics. Default: the factory of the task or of the program, as it is now.
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
