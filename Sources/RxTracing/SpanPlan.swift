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
    }

    let key: Key
    /// Method and template.
    let name: String
    /// The attributes of each call.
    let callAttributes: [String: SpanAttribute]
    private let exchange: Mutex<(origin: Origin?, attributes: [String: SpanAttribute])>

    init(_ key: Key) {
        self.key = key
        let template = key.path?.conventionalTemplate
        let method = key.method.isConventional ? key.method.rawValue : "HTTP"
        name = template.map { "\(method) \($0)" } ?? method
        var attributes: [String: SpanAttribute] = [:]
        // Copies keep the capacity.
        attributes.reserveCapacity(12)
        attributes["http.request.method"] = .string(
            key.method.isConventional ? key.method.rawValue : "_OTHER")
        if let template { attributes["url.template"] = .string(template) }
        exchange = Mutex((nil, attributes))
        attributes["rxnetworking.call.kind"] = .string("\(key.kind)")
        callAttributes = attributes
    }

    /// The attributes of each exchange with an origin; those for the last one are kept.
    func exchangeAttributes(_ origin: Origin?) -> [String: SpanAttribute] {
        exchange.withLock { exchange in
            guard exchange.origin != origin else { return exchange.attributes }
            exchange.origin = origin
            exchange.attributes["server.address"] = origin.map { .string($0.host) }
            exchange.attributes["server.port"] = origin.map { .int64(Int64($0.port)) }
            return exchange.attributes
        }
    }
}
#endif
