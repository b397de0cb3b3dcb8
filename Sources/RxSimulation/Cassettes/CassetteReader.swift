import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxWebSocket

/// Reads the document of a cassette, or an archive of a browser or a proxy.
struct CassetteReader {
    /// The version of the members that begin with an underscore; ``CassetteWriter`` writes it.
    static let version: Int64 = 1

    private let document: FixtureDocument

    init(_ bytes: [UInt8], file: String?) throws(FixtureError) {
        document = try FixtureDocument(bytes, file: file)
    }

    func exchanges() throws(FixtureError) -> [Cassette.Exchange] {
        let log = try document.root.object().required("log").object()
        // Recorders write 1.1, 1.2 and 1.3, which differ in optional members only.
        let version = try log.required("version")
        guard try version.text().hasPrefix("1.") else {
            throw version.error(.unsupportedVersion(try version.text()))
        }
        if let own = log["_cassette"] {
            guard try own.number() == Double(Self.version) else {
                throw own.error(.unsupportedVersion("\(try own.number())"))
            }
        }
        var exchanges: [Cassette.Exchange] = []
        for entry in try log.required("entries").elements() {
            exchanges.append(try exchange(entry.object()))
        }
        return exchanges
    }

    private func exchange(_ entry: FixtureObject) throws(FixtureError) -> Cassette.Exchange {
        let request = try entry.required("request").object()
        let method = try request.required("method")
        guard let known = HTTPRequest.Method(try method.text()) else {
            throw method.error(.notA("a method of HTTP"))
        }
        let url = try request.required("url")
        guard URL(string: try url.text())?.scheme != nil else { throw url.error(.notA("an absolute URL")) }
        // Browsers write the scheme of a WebSocket; the handshake has that of HTTP.
        var exchange = Cassette.Exchange(method: known, url: try url.text().withHTTPScheme)
        if let started = entry["startedDateTime"] { exchange.startedAt = try started.date() }
        if let fields = request["headers"] { exchange.headerFields = try fields.fields() }
        if let data = request["postData"] { exchange.body = try body(of: data.object()) }
        exchange.isWebSocket =
            try entry["_resourceType"]?.text() == "websocket" || entry["_webSocketMessages"] != nil
        exchange.events = try CassetteEvents(entry, isWebSocket: exchange.isWebSocket).read()
        return exchange
    }

    /// The content of a request. Forms may be written as pairs.
    private func body(of data: FixtureObject) throws(FixtureError) -> [UInt8] {
        let text = try data["text"]?.bytes(encoding: data["_encoding"] ?? data["encoding"]) ?? []
        guard text.isEmpty, let params = data["params"] else { return text }
        var form: [String] = []
        for pair in try params.elements() {
            let pair = try pair.object()
            let value = try pair["value"]?.text() ?? ""
            form.append("\(try pair.required("name").text().encodedAsForm)=\(value.encodedAsForm)")
        }
        return Array(form.joined(separator: "&").utf8)
    }
}

extension FixtureNode {
    /// A date in ISO 8601, with or without a fraction of the second.
    func date() throws(FixtureError) -> Date {
        let text = try text()
        let styles = [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()]
        for style in styles {
            if let date = try? style.parse(text) { return date }
        }
        throw error(.notA("a date in ISO 8601"))
    }

    /// The bytes of a text, or of a text in base64.
    func bytes(encoding: FixtureNode?) throws(FixtureError) -> [UInt8] {
        guard let encoding else { return Array(try text().utf8) }
        guard try encoding.text() == "base64" else { throw encoding.error(.notA("base64")) }
        return try base64()
    }

    func base64() throws(FixtureError) -> [UInt8] {
        guard let data = Data(base64Encoded: try text(), options: .ignoreUnknownCharacters) else {
            throw error(.notA("base64"))
        }
        return [UInt8](data)
    }

    /// Header fields. The pseudo-fields of HTTP/2 are omitted, and lines are separate fields, since browsers join
    /// repeated fields by LF.
    func fields() throws(FixtureError) -> HTTPFields {
        let pairs = try elements()
        var fields = HTTPFields()
        for pair in pairs {
            let object = try pair.object()
            let name = try object.required("name")
            let text = try name.text()
            guard !text.hasPrefix(":") else { continue }
            guard let fieldName = HTTPField.Name(text) else {
                throw name.error(.notA("the name of a header field"))
            }
            let value = try object.required("value").text()
            for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
                guard fields.count < ResponseHead.maxFields else {
                    throw error(.invalid("there are more than \(ResponseHead.maxFields) fields"))
                }
                fields.append(HTTPField(name: fieldName, value: String(line)))
            }
        }
        return fields
    }

    func status() throws(FixtureError) -> Int { Int(try integer(in: 100...999)) }
}

extension String {
    /// The text as a name or value of a form (WHATWG URL §5.2).
    var encodedAsForm: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."),
                UInt8(ascii: "*"):
                bytes.append(byte)
            case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
            default:
                bytes += Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Reads the events of one entry: those that this library wrote, or those that the phases of another recorder imply.
struct CassetteEvents {
    private let entry: FixtureObject
    private let response: FixtureObject
    private let isWebSocket: Bool
    private var events: [Cassette.Event] = []

    init(_ entry: FixtureObject, isWebSocket: Bool) throws(FixtureError) {
        self.entry = entry
        self.isWebSocket = isWebSocket
        response = try entry.required("response").object()
    }

    consuming func read() throws(FixtureError) -> [Cassette.Event] {
        if let end = entry["_end"] {
            try readOwn(end: end.object())
        } else {
            try readForeign()
        }
        return events
    }

    /// Adds an event; an event that is dated before the one before it happens with that one.
    private mutating func add(_ time: Duration, _ kind: Cassette.Event.Kind) {
        events.append(Cassette.Event(max(time, events.last?.time ?? .zero), kind))
    }

    // MARK: - Written by this library

    /// Reads the members as ``CassetteWriter`` writes them; change both. Cassettes of older releases must stay
    /// readable.
    private mutating func readOwn(end: FixtureObject) throws(FixtureError) {
        for interim in try entry["_interim"]?.elements() ?? [] {
            let interim = try interim.object()
            add(try interim.required("at").duration(), .interim(try head(interim)))
        }
        if let at = entry["_headAt"] {
            add(try at.duration(), .head(try head(response)))
            if isWebSocket { try readMessages(from: nil) }
            try readChunks()
        }
        if let trailers = entry["_trailers"] {
            let trailers = try trailers.object()
            add(try trailers.required("at").duration(), .trailers(try trailers.required("headers").fields()))
        }
        add(try end.required("at").duration(), try ending(end))
        try readUploads()
    }

    private func head(_ object: FixtureObject) throws(FixtureError) -> ResponseHead {
        let status = HTTPResponse.Status(
            code: try object.required("status").status(), reasonPhrase: try object["statusText"]?.text() ?? ""
        )
        let version = try object["httpVersion"]?.text() ?? ""
        return ResponseHead(
            status: status, headerFields: try object["headers"]?.fields() ?? [:],
            httpVersion: HTTPVersion(version.uppercased()))
    }

    private mutating func readChunks() throws(FixtureError) {
        guard let content = try content() else { return }
        guard let chunks = entry["_chunks"] else {
            if !content.isEmpty { add(events.last?.time ?? .zero, .chunk(content)) }
            return
        }
        var offset = 0
        for chunk in try chunks.elements() {
            let pair = try chunk.elements()
            guard pair.count == 2 else { throw chunk.error(.notA("a pair of time and size")) }
            let size = Int(try pair[1].integer(in: 0...Int64(content.count - offset)))
            add(try pair[0].duration(), .chunk(Array(content[offset..<offset + size])))
            offset += size
        }
        guard offset == content.count else {
            let sizes = "the sizes total \(offset), but the text has \(content.count) bytes; remove _chunks"
            throw chunks.error(.invalid("\(sizes) to have it in one chunk"))
        }
    }

    private func content() throws(FixtureError) -> [UInt8]? {
        guard let content = try response["content"]?.object() else { return nil }
        return try content["text"]?.bytes(encoding: content["encoding"])
    }

    private func ending(_ end: FixtureObject) throws(FixtureError) -> Cassette.Event.Kind {
        let outcome = try end.required("outcome")
        switch try outcome.text() {
        case "finished": return .finished
        case "cancelled": return .cancelled
        case "failed":
            let name = try end.required("phase")
            guard let phase = Cassette.Failure.Phase(rawValue: try name.text()) else {
                throw name.error(.notA("connect, request or response"))
            }
            var failure = Cassette.Failure(
                NetworkError.Code(rawValue: try end.required("code").text()),
                try end["message"]?.text() ?? "", phase: phase)
            if let reason = end["tlsFailure"] {
                failure.tlsFailure = NetworkError.TLSFailure(rawValue: try reason.text())
            }
            if let code = end["curlCode"] {
                failure.curlCode = Int(try code.integer(in: 0...Int64(Int32.max)))
            }
            return .failed(failure)
        default: throw outcome.error(.notA("finished, failed or cancelled"))
        }
    }

    /// Puts the progress of the upload between the other events, by time.
    private mutating func readUploads() throws(FixtureError) {
        guard let uploads = entry["_uploads"] else { return }
        var merged: [Cassette.Event] = []
        var others = events[...]
        for upload in try uploads.elements() {
            let parts = try upload.elements()
            guard parts.count == 2 || parts.count == 3 else { throw upload.error(.notA("a time and sizes")) }
            let time = max(try parts[0].duration(), merged.last?.time ?? .zero)
            // The end is the last event, whatever its time.
            while others.count > 1, let other = others.first, other.time < time {
                merged.append(others.removeFirst())
            }
            // Numbers are read as doubles, which have all whole numbers up to here.
            let sizes = 0...(Int64.max >> 11)
            let total = parts.count == 3 ? try parts[2].integer(in: sizes) : nil
            merged.append(Cassette.Event(time, .uploaded(bytes: try parts[1].integer(in: sizes), of: total)))
        }
        events = []
        for event in merged + others { add(event.time, event.kind) }
    }

    // MARK: - Written by others

    private mutating func readForeign() throws(FixtureError) {
        let timings = try entry["timings"]?.object()
        var (waited, total) = (Duration.zero, Duration.zero)
        for phase in ["blocked", "dns", "connect", "send", "wait", "receive"] {
            // −1 stands for a phase that did not occur.
            guard let timing = timings?[phase], try timing.number() > 0 else { continue }
            total += try timing.duration()
            if phase != "receive" { waited = total }
        }
        // 0, or −1 as Playwright writes it, stands for no response.
        let hasResponse = try response.required("status").integer(in: -1...999) > 0
        guard hasResponse else { return add(total, try failure(.request) ?? .failed(Self.lost)) }
        var head = try head(response)
        if isWebSocket, head.status == .switchingProtocols {
            add(waited, .head(head))
            try readMessages(from: entry["startedDateTime"]?.date().timeIntervalSince1970)
            if case .failed = events.last?.kind { return }
            return add(events.last?.time ?? total, .cancelled)
        }
        // The text is decoded, and its bytes come at once.
        var fields = head.headerFields
        for name in [HTTPField.Name.contentEncoding, .contentLength, .transferEncoding] { fields[name] = nil }
        head = ResponseHead(status: head.status, headerFields: fields, httpVersion: head.httpVersion)
        add(waited, .head(head))
        if let content = try content(), !content.isEmpty {
            add(total, .chunk(content))
        } else {
            try readServerSentEvents()
        }
        add(total, try failure(.response) ?? .finished)
    }

    private static let lost = Cassette.Failure(.connectionLost, "there was no response", phase: .request)

    /// The failure of an entry, for which recorders have no common format; `nil` if it has none.
    private func failure(
        _ phase: Cassette.Failure.Phase
    ) throws(FixtureError) -> Cassette.Event.Kind? {
        let member = entry["_error"] ?? response["_error"] ?? response["_failureText"]
        guard let text = try member?.text(), !text.isEmpty else { return nil }
        // The texts are those of Chrome, and of `HARRecording` and RxInspector.
        if text.contains("ABORTED") || text == "abandoned" { return .cancelled }
        let codes: [(part: String, code: NetworkError.Code, phase: Cassette.Failure.Phase)] = [
            ("NAME_NOT_RESOLVED", .resolve, .connect), ("CONNECTION_TIMED_OUT", .connectTimeout, .connect),
            ("CONNECTION_REFUSED", .connect, .connect), ("ADDRESS_UNREACHABLE", .connect, .connect),
            ("CERT_", .tls, .connect), ("SSL_", .tls, .connect), ("EMPTY_RESPONSE", .emptyReply, .request),
            // asyncio's text in archives of mitmproxy.
            ("Connect call failed", .connect, .connect),
        ]
        let found = phase == .request ? codes.first { text.contains($0.part) } : nil
        return .failed(Cassette.Failure(found?.code ?? .connectionLost, text, phase: found?.phase ?? phase))
    }

    /// The events of a stream, which Chrome lists instead of the text.
    private mutating func readServerSentEvents() throws(FixtureError) {
        guard let messages = entry["_eventSourceMessages"] else { return }
        let start = events.last?.time ?? .zero
        var first: Double?
        for message in try messages.elements() {
            let message = try message.object()
            let time = try message.required("time").number()
            first = first ?? time
            var text = ""
            if let id = try message["eventId"]?.text(), !id.isEmpty { text += "id: \(id)\n" }
            if let name = try message["eventName"]?.text(), name != "message" { text += "event: \(name)\n" }
            let lines = try message.required("data").text().parts(at: "\n", omittingEmpty: false)
            for line in lines { text += "data: \(line)\n" }
            // Ten years at most, as ``FixtureNode/duration()`` reads them.
            let delay = Duration.seconds(min(max(0, time - (first ?? time)), 315_360_000))
            add(start + delay, .chunk(Array("\(text)\n".utf8)))
        }
    }

    // MARK: - WebSockets

    /// Reads messages, whose times are milliseconds of this library or dates.
    ///
    /// - Parameter start: the start of the exchange as a date, for times of other recorders.
    private mutating func readMessages(from start: Double?) throws(FixtureError) {
        for message in try entry["_webSocketMessages"]?.elements() ?? [] {
            let message = try message.object()
            let type = try message.required("type")
            let time: Duration
            if let at = message["_at"] {
                time = try at.duration()
            } else {
                // Chrome writes seconds, Playwright milliseconds.
                let number = try message.required("time").number()
                let date = number > 1e11 ? number / 1000 : number
                // Ten years at most, as ``FixtureNode/duration()`` reads them.
                time = .seconds(min(max(0, date - (start ?? date)), 315_360_000))
            }
            // Chrome's form of a connection that broke.
            guard try type.text() != "error" else {
                let text = try message["data"]?.text() ?? "the connection broke"
                return add(time, .failed(Cassette.Failure(.connectionLost, text, phase: .response)))
            }
            guard let sender = Cassette.Sender(rawValue: try type.text()) else {
                throw type.error(.notA("send or receive"))
            }
            let data = try message.required("data")
            switch try message.required("opcode").integer(in: 0...15) {
            case 1: add(time, .message(.text(try data.text()), sender))
            case 2:
                add(time, .message(.binary(try data.base64()), sender))
            case 8:
                let code = try message["_code"]?.integer(in: 1000...4999)
                add(
                    time,
                    .close(
                        code.map { WebSocketCloseCode(rawValue: UInt16($0)) }, reason: try data.text(), sender
                    ))
            default: break
            }
        }
    }
}
