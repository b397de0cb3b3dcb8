import FoundationEssentials
import HTTPTypes

extension Request {
    /// The same request as a command for a POSIX shell, to try it by hand or to put it into a report.
    ///
    /// ```
    /// curl --globoff --path-as-is --compressed \
    ///   --request POST \
    ///   --header 'Content-Type: application/json' \
    ///   --data-raw '{"name":"tea","password":"…"}' \
    ///   --url 'https://api.example.com/goods'
    /// ```
    ///
    /// Every value is quoted, so that whatever stands in it is one word and nothing is run. What a command line
    /// cannot hold of a body is piped in by `printf` if it is no text, and expected on the command's standard
    /// input if it is longer than 64 KiB or not in memory.
    ///
    /// - Parameter showingSecrets: whether secrets are in it. Default no: they are replaced as ``redaction`` says.
    public func curlCommand(showingSecrets: Bool = false) -> String {
        let redaction = showingSecrets ? nil : redaction
        // The option would replace the field of a range.
        let isDecoded = decodesContent && headerFields[.range] == nil
        var words = [["curl", "--globoff", "--path-as-is"] + (isDecoded ? ["--compressed"] : [])]
        switch method {
        case .get where body.count == 0: break
        case .head: words.append(["--head"])
        default: words.append(["--request", method.rawValue.quotedForShell])
        }
        let fields = redaction?.shown(headerFields) ?? headerFields.map { ($0.name.rawName, $0.value) }
        for (name, value) in fields {
            // curl takes out a field without value, and sends an empty one for a semicolon.
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

    /// A word of a command line may have 128 KiB on Linux (`MAX_ARG_STRLEN`), and a quote takes four bytes.
    private static let contentLimit = 64 << 10

    /// The option that sends the body, and what is piped into it; `nil` where nothing is announced.
    private func content(_ redaction: Redaction?) -> (option: [String], pipe: String)? {
        guard body.count != 0 else {
            // Methods that define content announce that there is none (RFC 9110 §8.6).
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
    /// One word for a POSIX shell, whatever is in it: between single quotes, where only they are special (POSIX.1
    /// XCU §2.2.2).
    fileprivate var quotedForShell: String {
        var quoted = "'"
        for scalar in unicodeScalars {
            if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}

extension UInt8 {
    /// As `printf` reads it in its format, where `%` and `\` are special.
    fileprivate var octalEscape: String {
        let digits = String(self, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
