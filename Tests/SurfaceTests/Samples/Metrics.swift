#if Metrics
import RxMetrics
import RxNetworking

func recordMetrics(of client: Client) {
    client.recordMetrics()
}

func configureBuckets(of backend: Backend) {
    for metric in ClientMetric.allCases {
        if let buckets = metric.buckets { backend.setBuckets(of: metric.rawValue, to: buckets) }
    }
}

func watchConnections(of client: Client) {
    client.transport.connections.subscribe(onNext: { event in
        if case .closed(let age) = event.kind { print(event.origin.host, age) }
    })
}

struct Backend {
    func setBuckets(of _: String, to _: [Double]) {}
}
#endif
