/// One part of a ``Multipart`` form.
public struct Part: Sendable {
    /// The name of the form's field.
    public var name: String
    /// What the file is called, for servers that keep it; makes the field one of files.
    public var fileName: String?
    /// The MIME type of the content; `nil` leaves it out, which means plain text.
    public var contentType: String?
    /// The content.
    public var body: Body

    /// Creates a part.
    public init(_ name: String, _ body: Body, fileName: String? = nil, contentType: String? = nil) {
        self.name = name
        self.body = body
        self.fileName = fileName
        self.contentType = contentType
    }

    /// A text field, in UTF-8.
    public static func text(_ name: String, _ text: String) -> Part { Part(name, .text(text)) }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - fileName: what the file is called. Default `name`.
    ///   - contentType: their MIME type. Default `application/octet-stream`.
    public static func bytes(
        _ name: String, _ bytes: [UInt8], fileName: String? = nil,
        contentType: String = "application/octet-stream"
    ) -> Part {
        Part(name, .bytes(bytes), fileName: fileName ?? name, contentType: contentType)
    }

    /// A file, read from the disk while it is sent; see ``Body/file(_:range:)``.
    ///
    /// - Parameters:
    ///   - fileName: what the file is called for the server. Default the last part of `path`.
    ///   - contentType: its MIME type. Default `application/octet-stream`.
    public static func file(
        _ name: String, _ path: String, fileName: String? = nil,
        contentType: String = "application/octet-stream"
    ) -> Part {
        let last = path.split(separator: "/").last.map(String.init)
        return Part(name, .file(path), fileName: fileName ?? last ?? name, contentType: contentType)
    }
}
