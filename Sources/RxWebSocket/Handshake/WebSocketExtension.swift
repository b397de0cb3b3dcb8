/// An element of `Sec-WebSocket-Extensions` (RFC 6455 §9.1).
struct WebSocketExtension: Equatable {
    /// A parameter; without a value if there is no equals sign.
    struct Parameter: Equatable {
        var name: String
        var value: String?
    }

    var name: String
    var parameters: [Parameter] = []

    /// Parses a field value; `nil` if it is malformed. Empty elements are skipped (RFC 9110 §5.6.1.2).
    static func list(_ text: String) -> [WebSocketExtension]? {
        var rest = Array(text.utf8)[...]
        var list: [WebSocketExtension] = []
        while true {
            rest.skipBlanks()
            if rest.skip(",") { continue }
            if rest.isEmpty { return list }
            guard let name = rest.token() else { return nil }
            var item = WebSocketExtension(name: name)
            rest.skipBlanks()
            while rest.skip(";") {
                guard let parameter = rest.parameter() else { return nil }
                item.parameters.append(parameter)
            }
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
            list.append(item)
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func skipBlanks() { self = drop { $0 == 0x20 || $0 == 0x09 } }

    fileprivate mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    fileprivate mutating func token() -> String? {
        let token = prefix(while: \.isTokenByte)
        guard !token.isEmpty else { return nil }
        self = self[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    /// A parameter with the blanks around it. A quoted value must be a token once it is unquoted.
    fileprivate mutating func parameter() -> WebSocketExtension.Parameter? {
        skipBlanks()
        guard let name = token() else { return nil }
        skipBlanks()
        guard skip("=") else { return WebSocketExtension.Parameter(name: name) }
        skipBlanks()
        let isQuoted = skip("\"")
        guard let value = token(), !isQuoted || skip("\"") else { return nil }
        skipBlanks()
        return WebSocketExtension.Parameter(name: name, value: value)
    }
}

extension UInt8 {
    /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}

extension StringProtocol {
    var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenByte) }

    /// Without spaces and tabs at either end.
    var trimmed: SubSequence {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
