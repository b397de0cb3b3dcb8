import FoundationEssentials
import HTTPTypes
import RxHTTP

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
                guard fields.count < ResponseHead.mostFields else {
                    throw error(.invalid("there are more than \(ResponseHead.mostFields) fields"))
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
