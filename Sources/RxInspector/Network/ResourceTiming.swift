#if Inspector
import RxHTTP

/// The phases of an exchange for the waterfall, as `Network.ResourceTiming`: milliseconds since the request left the
/// queue, and −1 for phases that did not occur.
struct ResourceTiming {
    private let requestTime: Duration
    private var dns: (start: Double, end: Double) = (-1, -1)
    private var connect: (start: Double, end: Double) = (-1, -1)
    private var tls: (start: Double, end: Double) = (-1, -1)
    private var send: (start: Double, end: Double) = (0.001, 0.001)
    private var firstByte: Double

    /// - Parameter metrics: the measured phases; without them, only the time of the head is known.
    init(_ row: NetworkRow, _ metrics: TransferMetrics?) {
        guard let metrics else {
            requestTime = row.sentAt
            firstByte = max(0, (row.headAt - row.sentAt) / .milliseconds(1))
            return
        }
        requestTime = row.sentAt + metrics.queued
        // The panel takes a phase that begins at zero for one that did not occur.
        var reached = Duration.microseconds(1)
        /// The phase until `mark`, which an early response may have overtaken.
        func phase(until mark: Duration) -> (start: Double, end: Double) {
            let start = reached
            reached = min(max(mark, reached), max(metrics.total, reached))
            return (start / .milliseconds(1), reached / .milliseconds(1))
        }
        if !metrics.isConnectionReused {
            dns = phase(until: metrics.resolved)
            connect = phase(until: max(metrics.connected, metrics.secured))
            if metrics.secured > metrics.connected {
                tls = (max(metrics.connected / .milliseconds(1), connect.start), connect.end)
            }
        }
        send = phase(until: metrics.sent)
        firstByte = phase(until: metrics.firstByte).end
    }

    var document: JSON {
        [
            "requestTime": NetworkMessage.seconds(requestTime), "proxyStart": -1, "proxyEnd": -1,
            "dnsStart": .number(dns.start), "dnsEnd": .number(dns.end),
            "connectStart": .number(connect.start),
            "connectEnd": .number(connect.end), "sslStart": .number(tls.start), "sslEnd": .number(tls.end),
            "workerStart": -1, "workerReady": -1, "workerFetchStart": -1, "workerRespondWithSettled": -1,
            "sendStart": .number(send.start), "sendEnd": .number(send.end), "pushStart": 0, "pushEnd": 0,
            "receiveHeadersStart": .number(firstByte), "receiveHeadersEnd": .number(firstByte),
        ]
    }
}
#endif
