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
    /// asks for it.
    ///
    /// `1` starts it on a free port, a number from 1024 to 65535 on that port, which overrides `settings.port`. An unset or
    /// empty variable, `0`, `off`, `false` and `no`, in either case, start nothing. Any other value is an error, so that a
    /// mistyped one neither starts a server nor goes unnoticed.
    ///
    /// ```swift
    /// try await Inspector.startIfAsked(client)
    /// ```
    ///
    /// - Returns: the inspector; `nil` if the variable does not ask for one.
    /// - Throws: ``StartError``, if the variable has another value, or the port is not free.
    @discardableResult
    public static func startIfAsked(
        _ clients: Client..., settings: Settings = Settings()
    ) async throws(StartError) -> Inspector? {
        try await start(
            ifAskedBy: ProcessInfo.processInfo.environment["RX_INSPECTOR"], clients, settings: settings)
    }

    /// - Parameter value: the value of the environment variable; `nil` if it is not set.
    static func start(
        ifAskedBy value: String?, _ clients: [Client], settings: Settings
    ) async throws(StartError) -> Inspector? {
        var settings = settings
        switch value?.lowercased() ?? "" {
        case "", "0", "off", "false", "no": return nil
        case "1": settings.port = 0
        case let text:
            guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(text), port >= 1024 else {
                throw StartError(
                    description:
                        "RX_INSPECTOR is neither a port from 1024 on, nor 1 for a free one, nor 0: \(text)")
            }
            settings.port = port
        }
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
