extension HAR {
    /// A request as it was sent.
    public struct Request: Codable, Sendable, Equatable {
        /// The method.
        public var method: String
        /// The absolute URL.
        public var url: String
        /// The version, such as `HTTP/1.1`; `unknown` where it is not known.
        public var httpVersion: String
        /// The cookies that went with it.
        public var cookies: [Cookie]
        /// The header fields that were set on it. Additions of the transport are not recorded.
        public var headers: [Pair]
        /// The parameters in the URL.
        public var queryString: [Pair]
        /// The body, if there was one.
        public var postData: PostData?
        /// Bytes of the head: −1, not known.
        public var headersSize = -1
        /// Bytes of the body; −1 where that is not known.
        public var bodySize: Int
    }

    /// A response as it was received.
    public struct Response: Codable, Sendable, Equatable {
        /// The status; 0 without a response.
        public var status = 0
        /// The reason.
        public var statusText = ""
        /// The version, such as `HTTP/1.1`; `unknown` where it is not known.
        public var httpVersion = "unknown"
        /// The cookies that it set.
        public var cookies: [Cookie] = []
        /// The header fields.
        public var headers: [Pair] = []
        /// The body.
        public var content: Content
        /// The `Location`, or nothing.
        public var redirectURL = ""
        /// Bytes of the head; −1 where that is not known.
        public var headersSize = -1
        /// Bytes of the body as it came; −1 where that is not known.
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
        /// A mark in the place of the value.
        public var value: String
        /// Where it is sent.
        public var path: String?
        /// To whom it is sent.
        public var domain: String?
        /// Its expiry, in ISO 8601.
        public var expires: String?
        /// Whether scripts do not see it.
        public var httpOnly: Bool?
        /// Whether it is sent over TLS only.
        public var secure: Bool?
    }

    /// The body of a request.
    public struct PostData: Codable, Sendable, Equatable {
        /// The media type.
        public var mimeType: String
        /// The parameters of a form; the text is left out then.
        public var params: [Pair]?
        /// The text.
        public var text: String?
        /// Whether it is cut off, or why it is not there.
        public var comment: String?
    }

    /// The body of a response.
    public struct Content: Codable, Sendable, Equatable {
        /// Bytes, decoded.
        public var size: Int
        /// How many bytes compression saved.
        public var compression: Int?
        /// The media type.
        public var mimeType: String
        /// The text, or what is not text in `encoding`.
        public var text: String?
        /// `base64` where it is not text.
        public var encoding: String?
        /// Whether it is cut off, or why it is not there.
        public var comment: String?
    }
}
