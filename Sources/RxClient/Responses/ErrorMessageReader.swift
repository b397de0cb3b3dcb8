import RxHTTP
import RxJSON

/// Finds a human-readable reason in the JSON body of an error response.
///
/// It visits each part of the document a bounded number of times, so its running time is linear in the size
/// of the body.
struct ErrorMessageReader {
    private let tape: JSONTape
    private let bytes: [UInt8]
    /// The number of values visited, which tests bound.
    private(set) var steps = 0

    /// The usual keys of error messages, in the order of the lookup: `detail` and `title` in RFC 9457; `detail` and
    /// `non_field_errors` in Django REST framework; `detail` in FastAPI.
    private static let usualKeys = [
        "message", "msg", "error_description", "errmsg", "detail", "title", "error", "errors",
        "non_field_errors",
    ]
    /// The fields whose names say nothing about the error.
    private static let generalFields: Set<String> = [
        "non_field_errors", "detail", "error", "errors", "__all__",
    ]
    /// The maximum number of errors in a message, and of texts in one of them.
    private static let entryLimit = 32
    /// The maximum nesting depth of field errors.
    private static let depthLimit = 8

    /// Returns `nil` if the body is not JSON.
    init?(_ body: [UInt8]) {
        // Any error means that there is no message.
        guard let tape = try? JSONPart(wholeOf: body).tape else { return nil }
        self.tape = tape
        bytes = body
    }

    /// The reason, if there is one.
    ///
    /// - Parameters:
    ///   - keys: the keys to look up first.
    ///   - isProblem: whether the document is a problem document (RFC 9457), in which `detail` and `title`
    ///     come first.
    mutating func message(at keys: Envelope.Keys?, isProblem: Bool = false) -> String? {
        for node in nodes(at: keys) where node != JSONTape.root {
            if tape.kind(at: node).isObject { return message(at: node) }
            if let text = scalar(node), !text.isEmpty { return text }
        }
        guard tape.kind(at: JSONTape.root).isCollection else { return nil }
        return message(at: JSONTape.root, first: isProblem ? ["detail", "title"] : [])
    }

    /// The string, number or Bool at the first of several paths that has a value, as text.
    func scalar(at keys: Envelope.Keys) -> String? { nodes(at: keys).lazy.compactMap(scalar).first }

    private func nodes(at keys: Envelope.Keys?) -> [Int] {
        tape.values(at: (keys?.paths ?? []).map(\.keys), in: bytes).compactMap(\.self)
    }

    private func scalar(_ node: Int) -> String? {
        let kind = tape.kind(at: node)
        if kind.isString { return tape.text(at: node, in: bytes) }
        // As in the body of a success, so that a code matches the same sets. A malformed number is not read.
        return try? JSONPart(tape, at: node).scalarText(in: bytes)
    }

    /// - Parameter keys: the usual keys to look at first; others are not found.
    private mutating func message(at node: Int, first keys: [String] = []) -> String? {
        steps += 1
        let kind = tape.kind(at: node)
        if kind == .array { return list(node) }
        guard kind.isObject else { return scalar(node).flatMap { $0.isEmpty ? nil : $0 } }
        var entries: [String] = []
        if addFields(of: node, below: [], to: &entries), !entries.isEmpty { return Self.join(entries) }
        let members = members(of: node)
        for key in keys + Self.usualKeys {
            guard let value = members[key] else { continue }
            // If the value is an object, the message is in it or nowhere.
            if tape.kind(at: value).isObject { return message(at: value) }
            if let text = message(at: value) { return text }
        }
        return nil
    }

    /// The values of the usual keys.
    private mutating func members(of node: Int) -> [String: Int] {
        var found: [String: Int] = [:]
        for (key, value) in tape.members(of: node) {
            steps += 1
            guard let name = tape.text(at: key, in: bytes), found[name] == nil, Self.usualKeys.contains(name)
            else { continue }
            found[name] = value
        }
        return found
    }

    /// The messages of a list of texts, or of objects that name the part of the request they concern (`loc`
    /// in FastAPI, `pointer` in RFC 9457).
    private mutating func list(_ node: Int) -> String? {
        var entries: [String] = []
        for element in tape.elements(of: node).prefix(Self.entryLimit) {
            guard let text = message(at: element) else { continue }
            let found = tape.values(at: [["loc"], ["pointer"]], at: element, in: bytes)
            let location = found[0].map { tape.elements(of: $0).prefix(Self.depthLimit).compactMap(scalar) }
            let field = location?.joined(separator: ".") ?? found[1].flatMap(scalar) ?? ""
            entries.append(field.isEmpty ? text : "\(field): \(text)")
        }
        return entries.isEmpty ? nil : Self.join(entries)
    }

    /// Adds the errors of an object that contains only fields with lists of errors, as Django REST framework
    /// sends them.
    ///
    /// - Returns: whether it is such an object.
    private mutating func addFields(
        of node: Int, below path: [String], to entries: inout [String]
    ) -> Bool {
        guard path.count < Self.depthLimit else { return false }
        for (key, value) in tape.members(of: node) {
            guard let name = tape.text(at: key, in: bytes) else { return false }
            guard addErrors(at: value, of: path + [name], to: &entries) else { return false }
            if entries.count >= Self.entryLimit { return true }
        }
        return true
    }

    /// Adds the errors of one field: texts, or nested fields. Returns false if it is neither.
    private mutating func addErrors(
        at node: Int, of path: [String], to entries: inout [String]
    ) -> Bool {
        steps += 1
        if tape.kind(at: node).isObject {
            return addFields(of: node, below: path, to: &entries)
        }
        guard tape.kind(at: node) == .array else { return false }
        var texts: [String] = []
        for (index, element) in tape.elements(of: node).enumerated() {
            steps += 1
            if let text = tape.text(at: element, in: bytes) {
                if texts.count < Self.entryLimit { texts.append(text) }
            } else {
                let isNested =
                    tape.kind(at: element).isObject
                    && addFields(of: element, below: path + [String(index)], to: &entries)
                guard isNested else { return false }
            }
        }
        if !texts.isEmpty {
            let field = path.filter { !Self.generalFields.contains($0) }.joined(separator: ".")
            let text = texts.joined(separator: " ")
            entries.append(field.isEmpty ? text : "\(field): \(text)")
        }
        return true
    }

    private static func join(_ entries: [String]) -> String {
        entries.prefix(entryLimit).joined(separator: "; ")
    }
}
