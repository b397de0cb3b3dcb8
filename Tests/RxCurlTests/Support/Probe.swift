import TestServers

/// The process that downloads, and that can be killed.
func downloadProbe(_ url: String, to path: String) throws -> ChildProcess {
    try .isolated("download-probe", [url, path])
}

extension ChildProcess {
    /// The last line of its output.
    func lastLine() async throws -> String? {
        var last: String?
        while let line = try await nextLine() { last = line }
        return last
    }
}
