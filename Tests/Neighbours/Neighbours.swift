// Names that SwiftUI, Vapor, Hummingbird and others share with RxNetworking, for a file that imports both.

/// A client of another framework.
public struct Client {}

/// An uploaded file.
public struct File {}

/// The rest of a chain of middleware.
public struct Next {}

/// A page of a view.
public struct Page {}

/// A browser's session.
public struct Session {}

/// The values of a form.
public struct Values {}

/// A request that a server has received.
public struct Request {
    /// The path of its URL.
    public var path: String
}

/// A response that a server sends.
public struct Response {
    /// The text to send.
    public var body: String

    /// Creates a response.
    public init(body: String) { self.body = body }
}
