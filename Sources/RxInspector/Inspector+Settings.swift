#if Inspector
extension Inspector {
    /// The settings of an inspector.
    public struct Settings: Sendable {
        /// The port on 127.0.0.1. Default 0: a free one.
        public var port: UInt16 = 0
        /// Whether credentials, cookies and secret parameters are shown. Default false: they are replaced, as in a
        /// `HARRecording`.
        public var showsSecrets = false
        /// Whether `/json/list` is served without the token too, so that `chrome://inspect` finds the program by its
        /// port. Default false: any user of this machine could ask for the token there.
        public var isListed = false
        /// The maximum number of requests that are shown a second, at least 1; `nil` for no limit. The panel and the page
        /// say how many are left out. Default 500: more than anyone reads, and a program that sends thousands a second
        /// stays as fast as it is.
        public var requestsPerSecond: Int? = 500
        /// The maximum number of bytes that are kept of each body. Default 1 MiB.
        public var bodyLimit = 1 << 20
        /// The approximate maximum number of bytes that are kept of all requests together; beyond it, the oldest are
        /// dropped. Default 64 MiB.
        public var memoryLimit = 64 << 20
        /// Creates the default settings.
        public init() {}
    }

    /// The reason why a server did not start.
    public struct StartError: Error, CustomStringConvertible {
        /// The reason in words.
        public let description: String
    }
}
#endif
