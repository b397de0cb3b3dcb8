import FoundationEssentials
public import HTTPTypes

/// The description of an interface in OpenAPI 3, whose examples a ``ScriptedTransport`` returns.
///
/// ```swift
/// let shop = try OpenAPIDocument("Fixtures/shop.json")
/// let transport = ScriptedTransport(
///     on: clock,
///     try [.when(.get, "/goods/{id}", shop.reply(to: .get, "/goods/{id}", status: 404))] + shop.rules())
/// ```
///
/// The document is JSON. A response takes its content from `example`, the first of `examples`, or the `example` of the
/// schema; its header fields likewise. References within the document are followed; others are errors. Nothing is made up
/// from schemas, and requests are not validated.
public struct OpenAPIDocument: Sendable {
    private let document: FixtureDocument

    /// The largest file that is read: 64 MiB.
    public static let sizeLimit = 64 << 20

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the path of the file, absolute or relative to the folder of `source`.
    ///   - source: the source file that the path is relative to. Default the caller's.
    /// - Throws: a ``FixtureError`` if the file cannot be read, is larger than ``sizeLimit``, or is not JSON, or if its
    ///   version is not 3.
    public init(_ path: String, beside source: String = #filePath) throws(FixtureError) {
        let file = URL(fixture: path, beside: source).path
        try self.init(bytes: FixtureDocument.bytes(of: file, limit: Self.sizeLimit), file: file)
    }

    /// Reads the content of a file.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text, in UTF-8.
    ///   - file: the name of the file for errors. Default none.
    /// - Throws: a ``FixtureError`` if the text is not JSON, or its version is not 3.
    public init(bytes: [UInt8], file: String? = nil) throws(FixtureError) {
        document = try FixtureDocument(bytes, file: file)
        let version = try document.root.object().required("openapi")
        guard try version.text().hasPrefix("3.") else {
            throw version.error(.unsupportedVersion(try version.text()))
        }
    }

    /// A rule for each operation, with an example of its first successful response, or of another one if it has none.
    ///
    /// Paths begin with the path of the first server. Paths without parameters come before those with parameters, as the
    /// specification requires (OpenAPI 3.1.1 §4.8.8). A request for an operation without an example fails with
    /// `NetworkError.Code.unscripted`, and the message names the operation. A test that requires its rules does not
    /// require these.
    ///
    /// - Throws: a ``FixtureError`` that names the place in the document.
    public func rules() throws(FixtureError) -> [ScriptedTransport.Rule] {
        var reader = try OpenAPIReader(document)
        return try reader.rules()
    }

    /// The example of one response.
    ///
    /// - Parameters:
    ///   - method: the method of the operation.
    ///   - path: the path as the document has it, such as `/goods/{id}`.
    ///   - status: the status, for which a range such as `4XX` and `default` stand as well. Default: the first successful
    ///     one that has an example.
    ///   - type: the media type. Default: JSON, otherwise the first that has an example.
    ///   - example: the name among `examples`. Default: `example`, or the first of `examples`.
    ///   - delay: the time since the subscription. Default none.
    /// - Throws: a ``FixtureError`` that names the place in the document: ``FixtureError/Problem/missing`` for an operation
    ///   or response that is not there, and ``FixtureError/Problem/noExample``.
    public func reply(
        to method: HTTPRequest.Method, _ path: String, status: Int? = nil, type: String? = nil,
        example: String? = nil, after delay: Duration = .zero
    ) throws(FixtureError) -> ScriptedTransport.Reply {
        var reader = try OpenAPIReader(document)
        let operation = try reader.operation(method, path)
        let selection = OpenAPIReader.Selection(status: status, type: type, example: example)
        guard let response = try reader.response(of: operation, selection) else {
            throw try reader.responses(of: operation).error(.noExample)
        }
        return .bytes(response.body, status: response.status, headers: response.headers, after: delay)
    }
}
