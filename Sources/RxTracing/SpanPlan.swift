#if Tracing
import HTTPTypes
import RxClient
import RxHTTP
import Synchronization
import Tracing

/// The common part of the spans of all calls with the same kind, method and path, made once.
final class SpanPlan: Sendable {
    struct Key: Hashable, Sendable {
        let kind: CallKind
        let method: HTTPRequest.Method
        let path: String?
        let basePath: String
    }

    /// The values that determine the attributes of an exchange, apart from its URL, its errors and its number of attempts.
    struct Exchange: Equatable, Sendable {
        var origin: Origin?
        var status: Int?
        /// The metrics of a complete response.
        var version: HTTPVersion?
        var address: String?
        var port = 0
    }

    let key: Key
    /// Method and template.
    let name: String
    /// Whether the method may be the value of `http.request.method`.
    let isConventional: Bool
    /// The attributes that all spans have.
    private let common: [String: SpanAttribute]
    // The attributes of the last span, because those of most spans are equal.
    private let call: Mutex<(status: Int?, attributes: [String: SpanAttribute])>
    private let exchange: Mutex<(exchange: Exchange, attributes: [String: SpanAttribute])>

    init(_ key: Key) {
        self.key = key
        let template = key.path?.conventionalTemplate(below: key.basePath)
        isConventional = key.method.isConventional
        let method = isConventional ? key.method.rawValue : "HTTP"
        name = template.map { "\(method) \($0)" } ?? method
        var attributes: [String: SpanAttribute] = [:]
        // Copies keep the capacity.
        attributes.reserveCapacity(12)
        attributes["http.request.method"] = .string(isConventional ? key.method.rawValue : "_OTHER")
        if let template { attributes["url.template"] = .string(template) }
        common = attributes
        exchange = Mutex((Exchange(), attributes))
        attributes["rxnetworking.call.kind"] = .string("\(key.kind)")
        call = Mutex((nil, attributes))
    }

    /// The attributes of each call with this status of its last response.
    func callAttributes(_ status: Int?) -> [String: SpanAttribute] {
        call.withLock { call in
            if call.status != status {
                call.status = status
                call.attributes["http.response.status_code"] = status.map { .int64(Int64($0)) }
            }
            return call.attributes
        }
    }

    /// The attributes of such exchanges.
    func attributes(of wanted: Exchange) -> [String: SpanAttribute] {
        exchange.withLock { exchange in
            if exchange.exchange != wanted {
                var attributes = common
                attributes["server.address"] = wanted.origin.map { .string($0.host) }
                attributes["server.port"] = wanted.origin.map { .int64(Int64($0.port)) }
                attributes["http.response.status_code"] = wanted.status.map { .int64(Int64($0)) }
                attributes["network.protocol.version"] = wanted.version.map {
                    .string($0.conventionalNumber)
                }
                if let address = wanted.address {
                    attributes["network.peer.address"] = .string(address)
                    attributes["network.peer.port"] = .int64(Int64(wanted.port))
                }
                exchange = (wanted, attributes)
            }
            return exchange.attributes
        }
    }
}
#endif
