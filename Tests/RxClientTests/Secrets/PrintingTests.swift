import FoundationEssentials
import HTTPTypes
import RxCache
import RxCookies
import RxHAR
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient

/// Every public type that can hold a secret, with a secret in it, and every way to print it.
@Suite struct PrintingTests {
    private static let canary = "cAnArY7"
    private static let bytes = Array(canary.utf8)

    private struct Secretive: Encodable, Sendable {
        let pin = canary
    }

    private static func values() throws -> [(name: String, value: any Sendable)] {
        let url = try #require(
            URL(string: "https://anna:\(canary)@a.test/x?token=\(canary)#id_token=\(canary)"))
        let key = try #require(HTTPField.Name("X-Key"))
        let fields: HTTPFields = [
            .authorization: canary, .cookie: "a=\(canary)", .setCookie: "a=\(canary)",
            HTTPField.Name("X-Api-Key")!: canary, HTTPField.Name("token")!: canary,
            .location: url.absoluteString,
        ]
        var request = Request(method: .post, url: url, headerFields: fields, body: .bytes(bytes))
        request.headerFields[key] = canary
        request.secretFields = [key]
        try request.authenticate(by: .digest(user: "anna", password: canary))
        let head = ResponseHead(status: .ok, headerFields: fields)
        let response = Response(head: head, body: bytes, request: request)
        var error = NetworkError(.status, "refused", request: request)
        error.head = head
        error.body = bytes

        let part = Multipart.Part.text("pin", canary, headers: ["X-Key": canary])
        let form = Multipart([part, .bytes("file", bytes)])
        let credential = Credential(token: canary, refreshToken: canary, account: canary)
        let session = Session(credential: credential) { .just(credential) }
        let jar = CookieJar(publicSuffixes: PublicSuffixes { $0 == "test" })
        try jar.set("sid=\(canary)", from: url)
        let cookie = try #require(jar.cookies.first)
        let parameters: [Parameters] = [
            .form(["pin": canary]).hiding("pin"), .json(Secretive()),
            .query(["a": canary]).adding(["b": canary]),
            .text(canary), .multipart([part]), .body(.bytes(bytes)), .standard(["a": canary]),
        ]

        var configuration = ClientConfiguration(baseURL: url.absoluteString)
        configuration.standbyURL = url.absoluteString
        configuration.options.headers = ["X-Key": canary, "Authorization": canary]
        configuration.authentication = .basic(user: "anna", password: canary)
        configuration.session = session
        configuration.cookies = jar
        configuration.signature = .parameters { _ in ["sign": canary] }
        let client = Client(
            configuration: configuration, transport: ScriptedTransport(on: VirtualScheduler(), []))
        var call = InlineEndpoint(
            .post, url.absoluteString, at: ["id": canary], .form(["a": canary]), query: ["b": canary],
            headers: ["X-Key": canary])
        call.options.headers.append("X-Key", canary)

        let cacheKey = CacheKey(
            rules: .http, url: url.absoluteString, identity: canary, content: canary)
        let metadata = CacheEntry.Metadata(
            key: cacheKey, variant: CacheVariant(["x-key": canary]), head: head,
            freshness: CacheFreshness(date: Date(timeIntervalSince1970: 0), lifetime: 1))
        let entry = CacheEntry(metadata, body: bytes)
        let store = MemoryCacheStore()
        store.store(entry).subscribe(onNext: { _ in }, onFailure: { _ in })
        let recording = HARRecording(of: .never(), bodyLimit: 100)
        let event = TrafficEvent(
            kind: .transfer(.chunk(bytes)), request: request, exchange: 1, time: .zero,
            date: Date(timeIntervalSince1970: 0))
        let summary = TrafficEvent.Summary(
            outcome: .failed(error), status: .ok, bytesReceived: 1, attempts: 1, duration: .zero)
        let kinds: [TrafficEvent.Kind] = [
            .transfer(.head(head)), .transfer(.redirected(request, by: head)), .transfer(.chunk(bytes)),
            .broken(error),
            .relogin(because: error), .cached(.fresh, head), .ended(summary),
        ]
        let events: [TransferEvent] = [
            .redirected(request, by: head), .head(head), .chunk(bytes), .trailers(fields), .interim(head),
        ]
        let kept: [CookieEvent] = [
            .stored(cookie), .removed(cookie), .refused(.empty, from: url), .storageFailed(error),
        ]
        var state = PagingState<Int>()
        state.position = .link(url)
        state.phase = .failed(error)

        var page = Page([1], nextCursor: canary, previousCursor: canary)
        (page.position, page.next) = (.cursor(canary), .link(url))
        let info = PageInfo(
            position: .cursor(canary), itemCount: 1, largestPage: 0, itemsSoFar: 1, nextCursor: canary,
            previousCursor: canary, response: response)
        let answer = TypedResponse(output: 1, response: response)
        let context = CallContext(request, of: client, on: VirtualScheduler(), CallOverrides())

        return [
            ("Page", page), ("PageInfo", info),
            ("EndpointWithOptions", EndpointWithOptions(base: call) { $0.headers["X-Key"] = canary }),
            ("TypedResponse", answer), ("ProgressEvent", [ProgressEvent.finished(answer)]),
            ("Request", request), ("Response", response), ("ResponseHead", head), ("NetworkError", error),
            ("ResponsePart", ResponsePart(headerFields: fields, body: bytes)),
            ("Body", request.body), ("Multipart.Part", part), ("Multipart", form),
            ("Headers", configuration.options.headers),
            ("Headers.Field", configuration.options.headers.fields), ("Redaction", request.redaction),
            ("Authentication", configuration.authentication), ("TransferEvent", events),
            ("Authentication.bearer", Authentication.bearer(canary)),
            ("ClientConfiguration", configuration), ("Client", client), ("Servers", client.servers),
            ("InlineEndpoint", call), ("RequestOptions", call.options), ("Parameters", parameters),
            ("Signature.Content", Signature.Content(request: request, parameters: [("pin", canary)])),
            (
                "Signature.Addition",
                [Signature.Addition.parameters(["a": canary]), .headers(["X-Key": canary])]
            ),
            ("Credential", credential), ("Session", session),
            ("CredentialPlacement", CredentialPlacement.query("a")),
            ("Session.Event", Session.Event.loggedOut(error)),
            ("Cookie", cookie), ("CookieJar", jar), ("CookieEvent", kept),
            ("CacheKey", cacheKey), ("CacheEntry", entry), ("CacheEntry.Metadata", metadata),
            ("CacheVariant", metadata.variant), ("CacheStore", store),
            ("ResponseCache", ResponseCache(store: store)),
            ("CacheSelection", [CacheSelection.url(url.absoluteString), .identity(canary)]),
            ("RequestSelection", RequestSelection.url(url.absoluteString)),
            ("RequestOutcome", RequestOutcome.failed(error)),
            ("CallContext", context), ("Next", Next(of: context)),
            ("CallEvent", [CallEvent.response(response), .transfer(.head(head)), .output(canary)]),
            ("TrafficEvent", event), ("TrafficEvent.Kind", kinds), ("TrafficEvent.Summary", summary),
            ("HARRecording", recording), ("PagePosition", [PagePosition.link(url), .cursor(canary)]),
            ("PagingState", state),
            (
                "EventSourceUpdate",
                [EventSourceUpdate.open(head), .reconnecting(after: .zero, because: error)]
            ),
            (
                "WebSocketEvent",
                [
                    WebSocketEvent.opened(head, subprotocol: nil, isCompressed: false),
                    .reconnecting(after: .zero, because: error),
                ]
            ),
            (
                "DownloadEvent",
                DownloadEvent.finished(DownloadedFile(path: "/f", size: 1, resumedFrom: 0, head: head))
            ),
        ]
    }

    /// The output of printing, debugging, dumping and reflecting.
    private static func texts(of value: any Sendable, depth: Int = 0) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var texts = ["\(value)", String(reflecting: value), String(describing: [value]), dumped]
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for child in current.children {
                texts += ["\(child.label ?? "") \(child.value)", String(reflecting: child.value)]
            }
            mirror = current.superclassMirror
        }
        return texts
    }

    /// No printed text shows a secret, neither as text nor as bytes.
    @Test func noSecret() throws {
        let numbers = Self.bytes.map { "\($0)" }.joined(separator: ", ")
        let lines = Self.bytes.map { "- \($0)\n" }
        for (name, value) in try Self.values() {
            for text in Self.texts(of: value) {
                #expect(!text.isEmpty)
                #expect(!text.contains(Self.canary), "\(name): \(text)")
                #expect(!text.contains(numbers), "\(name): \(text)")
                #expect(!lines.allSatisfy { text.contains($0) }, "\(name): \(text)")
            }
        }
    }

    /// Descriptions have the useful parts.
    @Test func useful() throws {
        #expect(
            "\(ClientConfiguration(baseURL: "https://u:p@a.test/v1?q=1"))"
                == "configuration for \"@a.test/v1\"")
        #expect(
            "\(InlineEndpoint(.post, "/x?a=1", .form(["pin": 1, "a": 2]), query: ["q": 1], headers: ["X-A": "b"]))"
                == "POST \"/x\", form with a, pin, query with q, X-A: …")
        #expect("\(Body.bytes([1, 2]))" == "2 bytes")
        #expect("\(Multipart.Part.text("a", "b"))" == "\"a\", 1 bytes")
        #expect("\(TransferEvent.chunk([1, 2, 3]))" == "chunk of 3 bytes")
    }
}
