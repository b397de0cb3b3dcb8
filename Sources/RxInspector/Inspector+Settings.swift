#if Inspector
extension Inspector {
    /// The settings of an inspector.
    public struct Settings: Sendable {
        /// The port on 127.0.0.1. Default 0: any free port.
        public var port: UInt16 = 0
        /// Whether the panel shows credentials, cookies and secret parameters. Default false: they are redacted, as in a
        /// `HARRecording`. The page of streams never shows those of requests. Values of inspected streams are never redacted.
        public var showsSecrets = false
        /// Whether `/json/list` is served without the token, so that `chrome://inspect` finds the program by its port.
        /// Default false, because any user of the machine could read the token there.
        public var isListed = false
        /// The number of requests shown each second, at least 1, and as many more at once after a pause; `nil` for no
        /// limit. The panel and the page show how many were skipped. Default 500: more than anyone can read, and few
        /// enough not to slow down a program that sends thousands.
        public var requestsPerSecond: Int? = 500
        /// The maximum number of bytes that are kept of each body. Default 1 MiB.
        public var bodyLimit = 1 << 20
        /// The approximate maximum number of bytes that are kept of all requests together: bodies, heads, redirects and
        /// messages, for the panel three quarters of them, for the page and its archive the rest. Beyond it, the oldest
        /// are dropped. Default 64 MiB.
        public var memoryLimit = 64 << 20

        /// The part for the page of streams.
        var rowMemoryLimit: Int { memoryLimit / 4 }
        /// The part for the panel.
        var logMemoryLimit: Int { memoryLimit - rowMemoryLimit }
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
