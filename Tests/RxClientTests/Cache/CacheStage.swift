import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// A cache in front of a scripted server, in virtual time; requests are made by hand.
struct CacheStage {
    typealias Fields = [(String, String)]

    let clock = VirtualScheduler()
    let transport: ScriptedTransport
    let cache: ResponseCache

    static let url = "http://shop.test/goods"

    /// A server that responds with `answers` one after the other, and then with a plain 200 and the body
    /// "new".
    init(
        _ answers: [ScriptedTransport.Reply], store: any CacheStore = MemoryCacheStore()
    ) {
        let clock = clock
        let all = answers + [.bytes(Array("new".utf8))]
        let next = MutableProperty(0)
        transport = ScriptedTransport(on: clock) { _ in
            next.update { $0 += 1 }
            return all[min(next.value, all.count) - 1]
        }
        cache = ResponseCache(store: store) { Date.start + clock.now / .seconds(1) }
    }

    /// One request with its response.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method = .get, _ url: String = Self.url, _ fields: Fields = [],
        mode: CacheMode = .standard, policy: CachePolicy = .http, identity: String = ""
    ) throws -> Recorder<Response, NetworkError> {
        var request = Request(method: method, url: try #require(URL(string: url)))
        for (name, value) in fields {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return try send(request, mode: mode, policy: policy, identity: identity)
    }

    @discardableResult
    func send(
        _ request: Request, mode: CacheMode = .standard, policy: CachePolicy = .http, identity: String = ""
    ) throws -> Recorder<Response, NetworkError> {
        let transport = transport
        let response = cache.response(to: request, policy: policy, mode: mode, identity: identity) {
            request in
            transport.send(request, following: RedirectPolicy()).response(to: request)
        }
        let recorder = Recorder(response, on: clock)
        try clock.run()
        return recorder
    }

    func wait(_ seconds: Double) throws { try clock.advance(by: .seconds(seconds)) }

    /// The number of requests that the server has received.
    var asked: Int { transport.exchanges.count }
}

extension ScriptedTransport.Reply {
    /// A complete response with its fields in order, each unchanged.
    static func fields(
        _ fields: CacheStage.Fields, status: Int = 200, body: String = "old", after delay: Duration = .zero
    ) -> Self {
        let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        let head = ResponseHead(status: .init(code: status), fieldLines: Array(lines.utf8))
        let chunks: [ScriptedTransport.Step] = body.isEmpty ? [] : [.chunk(Array(body.utf8))]
        return Self([.wait(delay), .head(head)] + chunks + [.finish])
    }
}

extension Date {
    /// The start of virtual time: Tue, 14 Nov 2023 22:13:20 GMT.
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    /// The date in HTTP's format.
    var httpText: String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.weekday, .day, .month, .year, .hour, .minute, .second], from: self)
        func two(_ number: Int?) -> String {
            let text = String(number ?? 0)
            return text.count < 2 ? "0" + text : text
        }
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let day = "\(days[(parts.weekday ?? 1) - 1]), \(two(parts.day)) \(months[(parts.month ?? 1) - 1])"
        return "\(day) \(parts.year ?? 0) \(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)) GMT"
    }
}

/// The date so many seconds after the start, in HTTP's format.
func at(_ seconds: Double) -> String { (Date.start + seconds).httpText }
