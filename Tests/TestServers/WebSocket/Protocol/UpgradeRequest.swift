/// A client's request to open a WebSocket (RFC 6455 §4.1), as far as the server checks it.
struct UpgradeRequest {
    /// Why the server does not upgrade.
    struct Refusal: Error {
        let reason: String
        /// The case that the request asked for, if that much could be read.
        var caseNumber: Int?
    }

    /// The path and the query.
    let target: String
    /// The case that `/runCase?case=N` asks for.
    let caseNumber: Int?
    let key: String
    /// The values of Sec-WebSocket-Extensions, joined as RFC 9110 §5.3 allows.
    let extensions: String

    /// - Parameter head: the request up to the empty line.
    init(_ head: String) throws(Refusal) {
        var lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)[...]
        let words = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        let number = words.count > 1 ? Self.caseNumber(in: words[1]) : nil
        func require(_ condition: Bool, _ reason: String) throws(Refusal) {
            if !condition { throw Refusal(reason: reason, caseNumber: number) }
        }
        try require(
            words.count == 3 && words[0] == "GET" && words[2] == "HTTP/1.1",
            "the request line “\(words.joined(separator: " "))”")
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            try require(parts.count == 2, "the field “\(line)”")
            let (name, value) = (parts[0].lowercased(), Self.trimmed(parts[1]))
            fields[name] = fields[name].map { $0 + ", " + value } ?? value
        }
        func has(_ token: String, in name: String) -> Bool {
            fields[name, default: ""].split(separator: ",").contains {
                Self.trimmed($0).lowercased() == token
            }
        }
        try require(fields["host"] != nil, "no Host")
        try require(has("websocket", in: "upgrade"), "no Upgrade: websocket")
        try require(has("upgrade", in: "connection"), "no Connection: Upgrade")
        try require(fields["sec-websocket-version"] == "13", "no Sec-WebSocket-Version: 13")
        key = fields["sec-websocket-key", default: ""]
        target = String(words[1])
        extensions = fields["sec-websocket-extensions", default: ""]
        caseNumber = number
        try require(Base64.isEncoding(key, ofOctets: 16), "no Sec-WebSocket-Key of 16 octets")
    }

    private static func caseNumber(in target: Substring) -> Int? {
        let parts = target.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, parts[0] == "/runCase" else { return nil }
        return parts[1].split(separator: "&").first { $0.hasPrefix("case=") }.flatMap { Int($0.dropFirst(5)) }
    }

    /// The response that opens the connection (RFC 6455 §4.2.2).
    func response(extensions agreed: String?) -> [UInt8] {
        let accept = Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
        var text = "HTTP/1.1 101 Switching Protocols\r\nServer: cases\r\n"
        text += "Upgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n"
        if let agreed { text += "Sec-WebSocket-Extensions: \(agreed)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let front = text.drop(while: isSpace)
        return String(front.reversed().drop(while: isSpace).reversed())
    }
}
