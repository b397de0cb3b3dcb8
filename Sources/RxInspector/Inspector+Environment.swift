#if Inspector
import FoundationEssentials
public import RxClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension Inspector {
    /// Starts an inspector and prints its addresses to the standard error, if the environment variable `RX_INSPECTOR`
    /// is set and not empty: a port, or `1` for a free one. Without the variable, it does nothing.
    ///
    /// ```swift
    /// try await Inspector.startIfAsked(client)
    /// ```
    ///
    /// - Returns: the inspector; `nil` without the variable.
    /// - Throws: ``StartError``, if the value is not a port, or the port is not free.
    @discardableResult
    public static func startIfAsked(
        _ clients: Client..., settings: Settings = Settings()
    ) async throws(StartError) -> Inspector? {
        guard let text = ProcessInfo.processInfo.environment["RX_INSPECTOR"], !text.isEmpty else {
            return nil
        }
        guard let port = UInt16(text) else {
            throw StartError(description: "RX_INSPECTOR is not a port: \(text)")
        }
        var settings = settings
        settings.port = port == 1 ? 0 : port
        let inspector = try await start(settings: settings)
        for client in clients { inspector.inspect(client) }
        inspector.announce()
        return inspector
    }

    /// Prints the addresses to the standard error.
    private func announce() {
        let bytes = Array("\(self)\n".utf8)
        // A terminal that takes only a part of a few lines shows the part.
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}
#endif
