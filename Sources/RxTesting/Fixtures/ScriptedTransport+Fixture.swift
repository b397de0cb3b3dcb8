import FoundationEssentials
public import HTTPTypes

extension ScriptedTransport.Reply {
    /// A complete response whose body is a file, such as one saved from a server.
    ///
    /// ```swift
    /// .when(.get, "/goods", try .fixture("Fixtures/goods.json"))
    /// ```
    ///
    /// - Parameters:
    ///   - path: the path of the file, absolute or relative to the folder of `source`.
    ///   - status: the status. Default 200.
    ///   - headers: the header fields. `Content-Type` follows from the extension of the file unless it is among them.
    ///   - delay: the time since the subscription. Default none.
    ///   - source: the source file that the path is relative to. Default the caller's.
    /// - Throws: the error of Foundation if the file cannot be read.
    public static func fixture(
        _ path: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:],
        after delay: Duration = .zero, beside source: String = #filePath
    ) throws -> Self {
        let file = URL(fixture: path, beside: source)
        let body = [UInt8](try Data(contentsOf: file))
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = types[file.pathExtension.lowercased()] }
        return .bytes(body, status: status, headers: headers, after: delay)
    }

    private static let types = [
        "json": "application/json", "txt": "text/plain; charset=utf-8", "html": "text/html; charset=utf-8",
        "xml": "application/xml", "csv": "text/csv", "jsonl": "application/x-ndjson",
        "pdf": "application/pdf",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "svg": "image/svg+xml",
    ]
}

extension URL {
    /// The file at a path, absolute or relative to the folder of `source`.
    init(fixture path: String, beside source: String) {
        let folder = URL(filePath: source).deletingLastPathComponent()
        self = path.hasPrefix("/") ? URL(filePath: path) : folder.appending(path: path)
    }
}
