public import HTTPTypes

// Names that other libraries give to the parts of a response, for which the compiler suggests those of RxHTTP.

extension Response {
    /// Unavailable: use ``body``.
    @available(*, unavailable, renamed: "body")
    public var data: [UInt8] { body }

    /// Unavailable: use ``status``.
    @available(*, unavailable, renamed: "status.code")
    public var statusCode: Int { status.code }

    /// Unavailable: use ``ResponseHead/headerFields``.
    @available(*, unavailable, renamed: "head.headerFields")
    public var headers: HTTPFields { head.headerFields }
}
