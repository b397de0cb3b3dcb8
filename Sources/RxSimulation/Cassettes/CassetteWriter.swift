import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxWebSocket

/// Writes the document of a cassette: an archive in the format 1.2, with additional members.
enum CassetteWriter {
    static func document(of exchanges: [Cassette.Exchange]) -> [UInt8] {
        let creator: CassetteValue = .object([("name", .string("RxNetworking")), ("version", .string("1.0"))])
        let log: CassetteValue = .object([
            ("version", .string("1.2")), ("creator", creator), ("_cassette", .number(CassetteReader.version)),
            ("entries", .array(exchanges.map(entry))),
        ])
        var text: [UInt8] = []
        CassetteValue.object([("log", log)]).write(to: &text)
        text.append(UInt8(ascii: "\n"))
        return text
    }

    private static func entry(of exchange: Cassette.Exchange) -> CassetteValue {
        let events = exchange.events
        let end = events.last?.time ?? .zero
        let headTime = events.first { if case .head = $0.kind { true } else { false } }?.time
        let timings: CassetteValue = .object([
            ("send", .literal("0")), ("wait", .milliseconds(headTime ?? end)),
            ("receive", .milliseconds(end - (headTime ?? end))),
        ])
        // `ISO8601Format` cuts off fractions of a millisecond, so a value just below a whole one would lose it.
        let date = Date(timeIntervalSince1970: (startMilliseconds(of: exchange) + 0.25) / 1000)
            .ISO8601Format(.init(includingFractionalSeconds: true))
        var entry: [(name: String, value: CassetteValue)] = [
            ("startedDateTime", .string(date)), ("time", .milliseconds(end)),
            ("request", request(of: exchange)), ("response", response(of: exchange)),
            ("cache", .object([])), ("timings", timings),
        ]
        if exchange.isWebSocket { entry.append(("_resourceType", .string("websocket"))) }
        add("_uploads", uploads(in: events), to: &entry)
        add("_interim", interim(in: events), to: &entry)
        if let headTime { entry.append(("_headAt", .milliseconds(headTime))) }
        add("_chunks", chunks(in: events), to: &entry)
        add("_webSocketMessages", messages(of: exchange), to: &entry)
        add("_eventSourceMessages", serverSentEvents(of: exchange), to: &entry)
        for event in events {
            guard case .trailers(let fields) = event.kind else { continue }
            let value: CassetteValue = .object([
                ("at", .milliseconds(event.time)), ("headers", pairs(fields)),
            ])
            entry.append(("_trailers", value))
        }
        entry.append(("_end", ending(of: events.last)))
        return .object(entry)
    }

    private static func add(
        _ name: String, _ values: [CassetteValue], to entry: inout [(name: String, value: CassetteValue)]
    ) {
        if !values.isEmpty { entry.append((name, .array(values))) }
    }

    private static func request(of exchange: Cassette.Exchange) -> CassetteValue {
        let query = URLComponents(string: exchange.url)?.queryItems ?? []
        var request: [(name: String, value: CassetteValue)] = [
            ("method", .string(exchange.method.rawValue)), ("url", .string(exchange.url)),
            ("httpVersion", .string(exchange.head?.httpVersion?.description ?? "unknown")),
            ("cookies", .array([])), ("headers", pairs(exchange.headerFields)),
            ("queryString", .array(query.map { pair($0.name, $0.value ?? "") })),
            ("headersSize", .literal("-1")), ("bodySize", .number(exchange.body.count)),
        ]
        if !exchange.body.isEmpty {
            var data: [(name: String, value: CassetteValue)] = [
                ("mimeType", .string(exchange.headerFields[.contentType] ?? ""))
            ]
            data += text(exchange.body, encodingName: "_encoding")
            request.append(("postData", .object(data)))
        }
        return .object(request)
    }

    private static func response(of exchange: Cassette.Exchange) -> CassetteValue {
        let head = exchange.head
        let fields = head?.headerFields ?? [:]
        let body = exchange.content
        var content: [(name: String, value: CassetteValue)] = [
            ("size", .number(body.count)), ("mimeType", .string(fields[.contentType] ?? "x-unknown")),
        ]
        if !body.isEmpty { content += text(body, encodingName: "encoding") }
        return .object([
            ("status", .number(head?.status.code ?? 0)),
            ("statusText", .string(head?.status.reasonPhrase ?? "")),
            ("httpVersion", .string(head?.httpVersion?.description ?? "unknown")),
            ("cookies", .array([])), ("headers", pairs(fields)), ("content", .object(content)),
            ("redirectURL", .string(fields[.location] ?? "")), ("headersSize", .literal("-1")),
            ("bodySize", .literal("-1")),
        ])
    }

    /// A text, or bytes that are not text in base64.
    private static func text(
        _ bytes: [UInt8], encodingName: String
    ) -> [(name: String, value: CassetteValue)] {
        if let text = String(validating: bytes, as: UTF8.self) { return [("text", .string(text))] }
        return [("text", .string(Data(bytes).base64EncodedString())), (encodingName, .string("base64"))]
    }

    private static func pair(_ name: String, _ value: String) -> CassetteValue {
        .object([("name", .string(name)), ("value", .string(value))])
    }

    private static func pairs(_ fields: HTTPFields) -> CassetteValue {
        .array(fields.map { pair($0.name.rawName, $0.value) })
    }
}

// MARK: - The members with an underscore

/// ``CassetteEvents`` reads these members; change both. Another form is another ``CassetteReader/version``.
extension CassetteWriter {
    private static func uploads(in events: [Cassette.Event]) -> [CassetteValue] {
        events.compactMap { event in
            guard case .uploaded(let bytes, let total) = event.kind else { return nil }
            return .array([.milliseconds(event.time), .number(bytes)] + (total.map { [.number($0)] } ?? []))
        }
    }

    private static func interim(in events: [Cassette.Event]) -> [CassetteValue] {
        events.compactMap { event in
            guard case .interim(let head) = event.kind else { return nil }
            return .object([
                ("at", .milliseconds(event.time)), ("status", .number(head.status.code)),
                ("statusText", .string(head.status.reasonPhrase)), ("headers", pairs(head.headerFields)),
            ])
        }
    }

    private static func chunks(in events: [Cassette.Event]) -> [CassetteValue] {
        events.compactMap { event in
            guard case .chunk(let bytes) = event.kind else { return nil }
            return .array([.milliseconds(event.time), .number(bytes.count)])
        }
    }

    private static func messages(of exchange: Cassette.Exchange) -> [CassetteValue] {
        exchange.events.compactMap { event in
            let (sender, opcode, data, code): (Cassette.Sender, Int, String, UInt16?)
            switch event.kind {
            case .message(.text(let text), let side): (sender, opcode, data, code) = (side, 1, text, nil)
            case .message(.binary(let bytes), let side):
                (sender, opcode, data, code) = (side, 2, Data(bytes).base64EncodedString(), nil)
            case .close(let number, let reason, let side):
                (sender, opcode, data, code) = (side, 8, reason, number?.rawValue)
            default: return nil
            }
            var message: [(name: String, value: CassetteValue)] = [
                ("type", .string(sender.rawValue)), ("time", date(of: event, in: exchange)),
                ("opcode", .number(opcode)), ("data", .string(data)), ("_at", .milliseconds(event.time)),
            ]
            if let code { message.append(("_code", .number(code))) }
            return .object(message)
        }
    }

    /// The events of an event stream, for viewers; the body has them for a replay.
    private static func serverSentEvents(of exchange: Cassette.Exchange) -> [CassetteValue] {
        guard MediaType(exchange.head?[.contentType]).name == "text/event-stream" else { return [] }
        var parser = EventStreamParser(limit: .max)
        var messages: [CassetteValue] = []
        for event in exchange.events {
            guard case .chunk(let bytes) = event.kind else { continue }
            var found: [EventStreamParser.Output] = []
            // Without a limit nothing is refused.
            try? parser.read(bytes, into: &found)
            for case .event(let item) in found {
                messages.append(
                    .object([
                        ("time", date(of: event, in: exchange)), ("eventName", .string(item.type)),
                        ("eventId", .string(item.lastEventID)), ("data", .string(item.data)),
                    ]))
            }
        }
        return messages
    }

    /// The start of an exchange in whole milliseconds since 1970, as the file has it. All dates are computed from it, so
    /// that a cassette that is read and written again has the same bytes.
    private static func startMilliseconds(of exchange: Cassette.Exchange) -> Double {
        (exchange.startedAt.timeIntervalSince1970 * 1000).rounded()
    }

    /// The date of an event in seconds, with the time that the file has.
    private static func date(of event: Cassette.Event, in exchange: Cassette.Exchange) -> CassetteValue {
        let nanoseconds = max(0, event.time.attoseconds / 1_000_000_000)
        return .literal("\(startMilliseconds(of: exchange) / 1000 + Double(nanoseconds) / 1e9)")
    }

    private static func ending(of event: Cassette.Event?) -> CassetteValue {
        var end: [(name: String, value: CassetteValue)] = [("at", .milliseconds(event?.time ?? .zero))]
        switch event?.kind {
        case .finished: end.append(("outcome", .string("finished")))
        case .failed(let failure):
            end += [
                ("outcome", .string("failed")), ("code", .string(failure.code.rawValue)),
                ("phase", .string(failure.phase.rawValue)), ("message", .string(failure.message)),
            ]
            if let reason = failure.tlsFailure { end.append(("tlsFailure", .string(reason.rawValue))) }
            if let code = failure.curlCode { end.append(("curlCode", .number(code))) }
        default: end.append(("outcome", .string("cancelled")))
        }
        return .object(end)
    }
}

/// A JSON value to be written.
enum CassetteValue {
    case string(String)
    /// Digits, or `true`, `false` and `null`.
    case literal(String)
    case array([CassetteValue])
    case object([(name: String, value: CassetteValue)])

    static func number(_ number: some BinaryInteger) -> CassetteValue { .literal("\(number)") }

    /// A time in milliseconds, to the nanosecond. A time before the request counts as that of the request.
    static func milliseconds(_ time: Duration) -> CassetteValue {
        let nanoseconds = Int64(clamping: max(0, time.attoseconds / 1_000_000_000))
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest != 0 else { return .literal("\(whole)") }
        let digits = String(rest)
        var fraction = String(repeating: "0", count: 6 - digits.count) + digits
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return .literal("\(whole).\(fraction)")
    }

    /// The text, with a line for each value. Short arrays and objects of scalars take one line. With another layout, a
    /// cassette that is recorded again differs in all lines.
    func write(to text: inout [UInt8], indentation: Int = 0) {
        switch self {
        case .string(let string): Self.write(string, to: &text)
        case .literal(let literal): text += literal.utf8
        case .array(let values):
            write(values.map { (nil, $0) }, between: "[", "]", to: &text, indentation)
        case .object(let members):
            write(members.map { ($0.name, $0.value) }, between: "{", "}", to: &text, indentation)
        }
    }

    private func write(
        _ parts: [(name: String?, value: CassetteValue)], between open: String, _ close: String,
        to text: inout [UInt8], _ indentation: Int
    ) {
        let isShort = parts.count <= 4 && parts.allSatisfy { $0.value.isScalar }
        text += open.utf8
        for (index, part) in parts.enumerated() {
            if index > 0 { text += isShort ? ", ".utf8 : ",".utf8 }
            if !isShort { Self.breakLine(indentation + 1, in: &text) }
            if let name = part.name {
                Self.write(name, to: &text)
                text += ": ".utf8
            }
            part.value.write(to: &text, indentation: indentation + 1)
        }
        if !isShort { Self.breakLine(indentation, in: &text) }
        text += close.utf8
    }

    private var isScalar: Bool {
        switch self {
        case .string, .literal: true
        case .array, .object: false
        }
    }

    private static func breakLine(_ indentation: Int, in text: inout [UInt8]) {
        text.append(UInt8(ascii: "\n"))
        for _ in 0..<indentation { text += "  ".utf8 }
    }

    private static func write(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): text += "\\\"".utf8
            case UInt8(ascii: "\\"): text += "\\\\".utf8
            case UInt8(ascii: "\n"): text += "\\n".utf8
            case UInt8(ascii: "\r"): text += "\\r".utf8
            case UInt8(ascii: "\t"): text += "\\t".utf8
            case 0..<0x20: text += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
