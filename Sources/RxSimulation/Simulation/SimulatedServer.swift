import FoundationEssentials
public import HTTPTypes
public import RxHTTP
import RxTesting
import Synchronization

/// A server of a simulation: how it answers, and whether it runs.
final class SimulatedServer: Sendable {
    let name: String
    let origin: Origin
    let answer: @Sendable (SimulatedRequest) -> ScriptedTransport.Reply
    /// The number of outages now; they may overlap.
    private let outages = Mutex(0)

    init(
        name: String, origin: Origin,
        _ answer: @escaping @Sendable (SimulatedRequest) -> ScriptedTransport.Reply
    ) {
        self.name = name
        self.origin = origin
        self.answer = answer
    }

    var isOff: Bool { outages.withLock { $0 > 0 } }

    func turnOff() { outages.withLock { $0 += 1 } }

    func turnOn() { outages.withLock { $0 -= 1 } }
}

/// A request as it reaches a simulated server.
public struct SimulatedRequest: Sendable {
    /// The request.
    public let request: Request
    /// The whole body.
    public let body: [UInt8]
    /// The name of the exchange, such as `GET /cart #2`.
    public let place: String
    /// The virtual time.
    public let time: Duration

    /// The method.
    public var method: HTTPRequest.Method { request.method }
    /// The path of the URL, without query and escapes.
    public var path: String { request.url.path(percentEncoded: false) }
    /// The values of the query by name; of a repeated name, the last.
    public var query: [String: String] {
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { _, last in last }
    }

    /// The value of a header field; `nil` if it is missing.
    public subscript(name: HTTPField.Name) -> String? { request.headerFields[name] }
    /// The body as UTF-8 text.
    public var text: String { String(decoding: body, as: UTF8.self) }
}
