import Foundation

/// The rules of the format for a document (HAR 1.2): the required members of an object, their types, and the
/// relations between them. Independent of the types that write it.
struct HARRules {
    private(set) var flaws: [String] = []

    static func flaws(in document: Data) throws -> [String] {
        var rules = HARRules()
        rules.check(document: try JSONSerialization.jsonObject(with: document))
        return rules.flaws
    }

    private indirect enum Kind {
        case text, number, count, bool, object, list
    }

    private mutating func check(document: Any) {
        guard let log = (document as? [String: Any])?["log"] as? [String: Any] else { return flaw("no log") }
        require(log, "log", ["version": .text, "creator": .object, "entries": .list])
        if log["version"] as? String != "1.2" { flaw("version") }
        require(log["creator"], "creator", ["name": .text, "version": .text])
        for entry in log["entries"] as? [[String: Any]] ?? [] { check(entry: entry) }
    }

    private mutating func check(entry: [String: Any]) {
        require(
            entry, "entry",
            [
                "startedDateTime": .text, "time": .number, "request": .object, "response": .object,
                "cache": .object,
                "timings": .object,
            ], ["serverIPAddress": .text, "connection": .text, "comment": .text, "pageref": .text])
        let date = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/#
        if (entry["startedDateTime"] as? String)?.wholeMatch(of: date) == nil { flaw("startedDateTime") }
        check(timings: entry["timings"] as? [String: Any] ?? [:], time: entry["time"] as? Double ?? -1)
        let request = entry["request"] as? [String: Any] ?? [:]
        require(
            request, "request",
            [
                "method": .text, "url": .text, "httpVersion": .text, "cookies": .list, "headers": .list,
                "queryString": .list, "headersSize": .count, "bodySize": .count,
            ], ["postData": .object, "comment": .text])
        check(pairs: request["headers"], "header")
        check(pairs: request["queryString"], "parameter")
        check(cookies: request["cookies"])
        if let data = request["postData"] as? [String: Any] {
            require(
                data, "postData", ["mimeType": .text], ["params": .list, "text": .text, "comment": .text])
            // "Please note that text and params fields are mutually exclusive."
            if data["params"] != nil, data["text"] != nil { flaw("text and params") }
            for param in data["params"] as? [Any] ?? [] {
                require(
                    param, "param", ["name": .text],
                    ["value": .text, "fileName": .text, "contentType": .text])
            }
        }
        let response = entry["response"] as? [String: Any] ?? [:]
        require(
            response, "response",
            [
                "status": .count, "statusText": .text, "httpVersion": .text, "cookies": .list,
                "headers": .list,
                "content": .object, "redirectURL": .text, "headersSize": .count, "bodySize": .count,
            ], ["comment": .text])
        check(pairs: response["headers"], "header")
        check(cookies: response["cookies"])
        let content = response["content"] as? [String: Any] ?? [:]
        require(
            content, "content", ["size": .count, "mimeType": .text],
            ["compression": .count, "text": .text, "encoding": .text, "comment": .text])
        if let encoding = content["encoding"] as? String {
            let text = content["text"] as? String
            if encoding != "base64" || text.flatMap({ Data(base64Encoded: $0) }) == nil { flaw("encoding") }
        }
    }

    /// The phases add up to the whole; `ssl` is a part of `connect`.
    private mutating func check(timings: [String: Any], time: Double) {
        require(
            timings, "timings", ["send": .number, "wait": .number, "receive": .number],
            ["blocked": .number, "dns": .number, "connect": .number, "ssl": .number, "comment": .text])
        let phases = timings.compactMapValues { $0 as? Double }
        for (name, value) in phases where value < 0 {
            if value != -1 || ["send", "wait", "receive"].contains(name) { flaw("\(name) is \(value)") }
        }
        let sum = phases.filter { $0.key != "ssl" }.values.filter { $0 > 0 }.reduce(0, +)
        if abs(sum - time) > 0.001 { flaw("time is \(time), the timings are \(sum)") }
        if let ssl = phases["ssl"], ssl > phases["connect"] ?? -1 { flaw("ssl") }
    }

    private mutating func check(pairs: Any?, _ name: String) {
        for pair in pairs as? [Any] ?? [] {
            require(pair, name, ["name": .text, "value": .text], ["comment": .text])
        }
    }

    private mutating func check(cookies: Any?) {
        for cookie in cookies as? [Any] ?? [] {
            require(
                cookie, "cookie", ["name": .text, "value": .text],
                [
                    "path": .text, "domain": .text, "expires": .text, "httpOnly": .bool, "secure": .bool,
                    "comment": .text,
                ])
        }
    }

    /// Required members, optional ones, and no others except those that begin with an underscore.
    private mutating func require(
        _ object: Any?, _ name: String, _ needed: [String: Kind], _ possible: [String: Kind] = [:]
    ) {
        guard let members = object as? [String: Any] else { return flaw("no \(name)") }
        for key in needed.keys where members[key] == nil { flaw("\(name) has no \(key)") }
        for (key, value) in members {
            guard let kind = needed[key] ?? possible[key] else {
                if !key.hasPrefix("_") { flaw("\(name) has \(key)") }
                continue
            }
            if !Self.matches(value, kind) { flaw("\(key) of \(name) is \(value)") }
        }
    }

    private static func matches(_ value: Any, _ kind: Kind) -> Bool {
        switch kind {
        case .text: value is String
        case .number: value is Double
        case .count: (value as? Int).map { $0 >= -1 } ?? false
        case .bool: value is Bool
        case .object: value is [String: Any]
        case .list: value is [Any]
        }
    }

    private mutating func flaw(_ text: String) { flaws.append(text) }
}
