import FoundationEssentials
import HTTPTypes

extension Request {
    /// The request as a command for a POSIX shell, for trying it by hand or adding it to a report.
    ///
    /// ```
    /// curl --globoff --path-as-is --compressed \
    ///   --request POST \
    ///   --header 'Content-Type: application/json' \
    ///   --data-raw '{"name":"tea","password":"…"}' \
    ///   --url 'https://api.example.com/goods'
    /// ```
    ///
    /// Every value is quoted, so that it stays one word and nothing in it is executed. A body that is not
    /// text is piped in by `printf`; a body that is longer than 64 KiB or not in memory is expected on the
    /// standard input of the command.
    ///
    /// - Parameter showingSecrets: whether to include secrets. Default false: they are replaced according to
    ///   ``redaction``.
    public func curlCommand(showingSecrets: Bool = false) -> String {
        let redaction = showingSecrets ? nil : redaction
        // A range is requested without content codings, which `--compressed` would ask for.
        let isDecoded = decodesContent && headerFields[.range] == nil
        var words = [["curl", "--globoff", "--path-as-is"] + (isDecoded ? ["--compressed"] : [])]
        switch method {
        case .get where body.count == 0: break
        case .head: words.append(["--head"])
        default: words.append(["--request", method.rawValue.quotedForShell])
        }
        let fields = redaction?.shown(headerFields) ?? headerFields.map { ($0.name.rawName, $0.value) }
        for (name, value) in fields {
            // curl omits a field without a value; a semicolon makes it send the field empty.
            words.append(["--header", (value.isEmpty ? "\(name);" : "\(name): \(value)").quotedForShell])
        }
        var pipe = ""
        if let content = content(redaction) {
            if headerFields[.contentType] == nil { words.append(["--header", "'Content-Type:'"]) }
            words.append(content.option)
            pipe = content.pipe
        }
        words.append([
            "--url", (redaction?.shown(url: url.absoluteString) ?? url.absoluteString).quotedForShell,
        ])
        return pipe + words.map { $0.joined(separator: " ") }.joined(separator: " \\\n  ")
    }

    /// An argument may have 128 KiB on Linux (`MAX_ARG_STRLEN`), and a quote takes four bytes. The documentation of
    /// ``curlCommand(showingSecrets:)`` names the limit.
    private static let contentLimit = 64 << 10

    /// The option that sends the body, and the pipe in front of the command; `nil` if no body is announced.
    private func content(_ redaction: Redaction?) -> (option: [String], pipe: String)? {
        guard body.count != 0 else {
            // Methods that define content announce an empty body (RFC 9110 §8.6).
            return [.post, .put, .patch].contains(method) ? (["--data-raw", "''"], "") : nil
        }
        guard case .bytes(let bytes) = body, bytes.count <= Self.contentLimit else {
            return (["--data-binary", "@-"], "")
        }
        let shown = redaction == nil ? bytes : shown(bytes)
        if !shown.contains(0), let text = String(validating: shown, as: UTF8.self) {
            return (["--data-raw", text.quotedForShell], "")
        }
        return (["--data-binary", "@-"], "printf '\(shown.map(\.octalEscape).joined())' | ")
    }
}

extension String {
    /// The text as one word for a POSIX shell: in single quotes, between which only the single quote is
    /// special (POSIX.1 XCU §2.2.2).
    fileprivate var quotedForShell: String {
        var quoted = "'"
        for scalar in unicodeScalars {
            if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}

extension UInt8 {
    /// The byte as an escape of `printf`'s format, where `%` and `\` are special.
    fileprivate var octalEscape: String {
        let digits = String(self, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
