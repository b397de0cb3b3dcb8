extension NginxServer {
    private static let started = Result { try NginxServer() }

    /// The server that the tests of a process share. It ends with the process.
    public static func shared() throws -> NginxServer { try started.get() }
}
