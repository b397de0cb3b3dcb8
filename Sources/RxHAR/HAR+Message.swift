extension HAR {
    /// A request as sent.
    public struct Request: Codable, Sendable, Equatable {
        /// The method.
        public var method: String
        /// The absolute URL.
        public var url: String
        /// The version, such as `HTTP/1.1`; `unknown` if it is not known.
        public var httpVersion: String
        /// The cookies that were sent with the request.
        public var cookies: [Cookie]
        /// The header fields of the request. Fields added by the transport are not recorded.
        public var headers: [Pair]
        /// The parameters in the URL.
        public var queryString: [Pair]
        /// The body, if there was one.
        public var postData: PostData?
        /// The size of the head in bytes; always −1, that is, unknown.
        public var headersSize = -1
        /// The size of the body in bytes; −1 if unknown.
        public var bodySize: Int
    }

    /// A response as received.
    public struct Response: Codable, Sendable, Equatable {
        /// The status; 0 without a response.
        public var status = 0
        /// The reason phrase.
        public var statusText = ""
        /// The version, such as `HTTP/1.1`; `unknown` if it is not known.
        public var httpVersion = "unknown"
        /// The cookies that the response set.
        public var cookies: [Cookie] = []
        /// The header fields.
        public var headers: [Pair] = []
        /// The body.
        public var content: Content
        /// The `Location` field; empty if there is none.
        public var redirectURL = ""
        /// The size of the head in bytes; −1 if unknown.
        public var headersSize = -1
        /// The size of the received body in bytes, before decoding; −1 if unknown.
        public var bodySize = -1
    }

    /// A name and its value.
    public struct Pair: Codable, Sendable, Equatable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// A cookie. Its value is never recorded.
    public struct Cookie: Codable, Sendable, Equatable {
        /// The name.
        public var name: String
        /// A placeholder for the value.
        public var value: String
        /// The path below which the cookie is sent.
        public var path: String?
        /// The domain that the cookie is sent to.
        public var domain: String?
        /// The expiry, in ISO 8601.
        public var expires: String?
        /// Whether the cookie is hidden from scripts.
        public var httpOnly: Bool?
        /// Whether the cookie is sent over TLS only.
        public var secure: Bool?
    }

    /// The body of a request.
    public struct PostData: Codable, Sendable, Equatable {
        /// The media type.
        public var mimeType: String
        /// The parameters of a form, recorded instead of the text.
        public var params: [Pair]?
        /// The text.
        public var text: String?
        /// Notes that the body is truncated, or why it is missing.
        public var comment: String?
    }

    /// The body of a response.
    public struct Content: Codable, Sendable, Equatable {
        /// The size of the decoded body, in bytes.
        public var size: Int
        /// The number of bytes that compression saved.
        public var compression: Int?
        /// The media type.
        public var mimeType: String
        /// The text, or binary data in the format of `encoding`.
        public var text: String?
        /// `base64` for binary data.
        public var encoding: String?
        /// Notes that the body is truncated, or why it is missing.
        public var comment: String?
    }
}
