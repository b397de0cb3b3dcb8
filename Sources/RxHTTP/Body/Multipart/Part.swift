/// One part of a ``Multipart`` form.
public struct Part: Sendable {
    /// The name of the form's field.
    public var name: String
    /// The file name that the server receives; it makes the part a file.
    public var fileName: String?
    /// The MIME type of the content; `nil` omits it, which means plain text.
    public var contentType: String?
    /// Header fields of the part besides `Content-Disposition` and `Content-Type`, which the other properties
    /// define. Servers may ignore them (RFC 7578 §4.8).
    public var headers: Headers
    /// The content.
    public var body: Body

    /// Creates a part.
    public init(
        _ name: String, _ body: Body, fileName: String? = nil, contentType: String? = nil,
        headers: Headers = [:]
    ) {
        self.name = name
        self.body = body
        self.fileName = fileName
        self.contentType = contentType
        self.headers = headers
    }

    /// A text field, in UTF-8.
    public static func text(_ name: String, _ text: String, headers: Headers = [:]) -> Part {
        Part(name, .text(text), headers: headers)
    }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - fileName: the file name that the server receives. Default `name`.
    ///   - contentType: the MIME type. Default `application/octet-stream`.
    public static func bytes(
        _ name: String, _ bytes: [UInt8], fileName: String? = nil,
        contentType: String = "application/octet-stream", headers: Headers = [:]
    ) -> Part {
        Part(name, .bytes(bytes), fileName: fileName ?? name, contentType: contentType, headers: headers)
    }

    /// A file, read from disk while it is sent; see ``Body/file(_:range:)``.
    ///
    /// - Parameters:
    ///   - fileName: the file name that the server receives. Default the last component of `path`.
    ///   - contentType: the MIME type. Default `application/octet-stream`.
    public static func file(
        _ name: String, _ path: String, fileName: String? = nil,
        contentType: String = "application/octet-stream", headers: Headers = [:]
    ) -> Part {
        let last = path.split(separator: "/").last.map(String.init)
        return Part(
            name, .file(path), fileName: fileName ?? last ?? name, contentType: contentType, headers: headers)
    }
}

extension Part: RedactedDescription {
    /// Name, file name, type and size; never the content.
    public var description: String {
        var parts = [name.debugDescription]
        if let fileName { parts.append("file \(fileName.debugDescription)") }
        if let contentType { parts.append(contentType) }
        if !headers.fields.isEmpty { parts.append("\(headers)") }
        return (parts + ["\(body)"]).joined(separator: ", ")
    }
}
