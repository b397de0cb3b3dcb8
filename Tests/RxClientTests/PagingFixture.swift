import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting

struct Goods: Codable, Sendable, Equatable {
    let id: Int
    var name = "tea"
}

struct GoodsList: Endpoint {
    typealias Output = [Goods]
    var path = "/goods"
    var method = HTTPRequest.Method.get
    var keyword: String?
    var parameters: Parameters { .query(["keyword": keyword]) }
}

/// A list of numbered pages behind a scripted transport, its signals, and the resulting states.
struct PagingFixture {
    let clock = VirtualScheduler()
    let transport: ScriptedTransport
    let client: Client
    let next = Signal<Void>()
    let reload = Signal<Void>()

    init(answer: @escaping @Sendable (Request) -> ScriptedTransport.Reply) {
        transport = ScriptedTransport(on: clock, reply: answer)
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        client = Client(configuration: configuration, transport: transport)
    }

    func record(
        _ rule: PagingRule = .numbered(size: 2), options: PagingOptions<Goods> = PagingOptions()
    ) -> Recorder<PagingState<Goods>, Never> {
        Recorder(
            client.pages(GoodsList(), rule, options: options, next: next, reload: reload), on: clock)
    }

    /// Pages of two, `count` in all.
    static func shop(_ count: Int) -> @Sendable (Request) -> ScriptedTransport.Reply {
        { request in
            let page = request.parameter("page").flatMap { Int($0) } ?? 0
            return .goods(Array((2 * page - 1)...(2 * page)).filter { $0 <= count })
        }
    }

    /// The requested page numbers, in order.
    var asked: [Int] { transport.requests.compactMap { $0.parameter("page").flatMap { Int($0) } } }
}

extension Request {
    func parameter(_ name: String) -> String? {
        URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == name }?.value
    }
}

extension ScriptedTransport.Reply {
    /// A list of goods with these ids, after 10 ms.
    static func goods(_ ids: [Int], name: String = "tea", link: String? = nil) -> Self {
        let list = ids.map { #"{"id": \#($0), "name": "\#(name)"}"# }.joined(separator: ",")
        var fields = HTTPFields()
        if let link { fields[values: .linkField] = [link] }
        return .json("[\(list)]", headers: fields, after: .milliseconds(10))
    }
}

extension HTTPField.Name {
    static let linkField = HTTPField.Name("Link")!
}

extension PagingState<Goods> {
    /// `idle 1,2` and the like.
    var text: String {
        let phase =
            switch phase {
            case .idle: "idle"
            case .loadingFirst: "first"
            case .loadingMore: "more"
            case .loadingPrevious: "previous"
            case .failed(let error): "failed(\(error.code.rawValue))"
            case .end: "end"
            }
        return ([phase] + [items.map { "\($0.id)" }.joined(separator: ",")]).filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}

extension Recorder where Element == PagingState<Goods> {
    var texts: [String] { values.map(\.text) }
}
