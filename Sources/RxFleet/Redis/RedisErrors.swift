#if Fleet
public import RxHTTP

extension NetworkError.Code {
    /// Redis is still reading its data from disk (`LOADING`, `MASTERDOWN`). It can be asked again soon.
    public static let storeLoading = Self(rawValue: "storeLoading")
    /// A script of another client blocks Redis (`BUSY`).
    public static let storeBusy = Self(rawValue: "storeBusy")
    /// Redis has reached its limit of memory, and evicts nothing (`OOM`).
    public static let storeFull = Self(rawValue: "storeFull")
    /// Redis requires a user or a password, and the address has none (`NOAUTH`).
    public static let storeLoginMissing = Self(rawValue: "storeLoginMissing")
    /// Redis has refused the user or the password (`WRONGPASS`).
    public static let storeLoginRefused = Self(rawValue: "storeLoginRefused")
    /// The user of Redis may not execute a command, or not with these keys or channels (`NOPERM`).
    public static let storeForbidden = Self(rawValue: "storeForbidden")
    /// Redis takes no writes: it is a replica (`READONLY`), has too few replicas (`NOREPLICAS`), or cannot save its data
    /// (`MISCONF`).
    public static let storeReadOnly = Self(rawValue: "storeReadOnly")
    /// The server is a Sentinel, a member of a Redis Cluster, or too old.
    public static let storeUnsupported = Self(rawValue: "storeUnsupported")
    /// Redis has refused a command for another reason; ``NetworkError/serverMessage`` has its text.
    public static let storeFailure = Self(rawValue: "storeFailure")
}

/// The errors of Redis as errors of a store. None of them contains an argument of a command.
enum RedisErrors {
    /// Whether another attempt to connect fails in the same way until somebody changes the server or the settings. The
    /// attempts go on, with the longest wait between them.
    static func isLasting(_ error: NetworkError) -> Bool {
        switch error.code {
        case .storeLoginMissing, .storeLoginRefused, .storeForbidden, .storeUnsupported, .storeReadOnly,
            .invalidConfiguration, .invalidResponse:
            true
        // A TLS handshake that breaks off has no specific failure; a refused certificate has one.
        case .tls: error.tlsFailure != nil
        default: false
        }
    }

    /// The error for a reply of failure. Redis.md lists the codes.
    ///
    /// - Parameter isSecret: whether the command had a password, which Redis may quote. Default false.
    static func error(for failure: RESPFailure, isSecret: Bool = false) -> NetworkError {
        let code = failure.code.prefix(32)
        var error: NetworkError
        switch code {
        case "LOADING":
            error = NetworkError(.storeLoading, "Redis is reading its data from disk: ask again soon")
        case "MASTERDOWN":
            error = NetworkError(.storeLoading, "the replica has no data: its link to the master is down")
        case "BUSY":
            error = NetworkError(.storeBusy, "Redis is blocked by a script of another client")
        case "OOM":
            error = NetworkError(
                .storeFull, "Redis has no memory left for the command: raise maxmemory, or remove data")
        case "NOAUTH":
            error = NetworkError(
                .storeLoginMissing, "Redis requires a login: give its address a user and a password")
        case "WRONGPASS":
            error = NetworkError(.storeLoginRefused, "Redis has refused the user or the password")
        case "NOPERM":
            error = NetworkError(
                .storeForbidden,
                "the user of Redis lacks a permission: its ACL must allow the commands, keys and channels of RedisStore"
            )
        case "DENIED":
            error = NetworkError(
                .storeForbidden, "Redis is in protected mode: it admits only connections from its own machine"
            )
        case "READONLY":
            error = NetworkError(.storeReadOnly, "this Redis is a replica: give the address of the master")
        case "NOREPLICAS":
            error = NetworkError(
                .storeReadOnly, "Redis takes no writes: it has fewer replicas than required")
        case "MISCONF":
            error = NetworkError(.storeReadOnly, "Redis takes no writes: it cannot save its data")
        case "MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT", "TRYAGAIN":
            error = cluster
        case "NOPROTO":
            error = NetworkError(
                .storeUnsupported, "the server does not speak RESP3: Redis 7 or Valkey is needed")
        default:
            error = NetworkError(.storeFailure, "Redis has refused the command (\(word(code)))")
        }
        if !isSecret { error.serverMessage = String(failure.text.prefix(500)) }
        return error
    }

    /// The code if it looks like one (capitals and digits): no other text of the server gets into a message.
    private static func word(_ code: Substring) -> String {
        let isWord =
            !code.isEmpty
            && code.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
        return isWord ? String(code) : "without a code"
    }

    static var cluster: NetworkError {
        NetworkError(
            .storeUnsupported,
            "the server belongs to a Redis Cluster, which is not supported: use a single Redis")
    }

    static var sentinel: NetworkError {
        NetworkError(
            .storeUnsupported,
            "the server is a Redis Sentinel, which has no data: give the address of the master")
    }

    /// A reply of another type than the command has.
    static func unexpected(_ value: RESPValue, instead wanted: String) -> NetworkError {
        NetworkError(.invalidResponse, "Redis has sent \(value.kind) instead of \(wanted)")
    }

    static func malformed(_ reason: String) -> NetworkError {
        NetworkError(.invalidResponse, "the server does not speak RESP3 as Redis does: \(reason)")
    }
}

extension NetworkError {
    /// The failure of a command whose connection has ended for this reason.
    ///
    /// - Parameter isSent: whether any byte of the command may have been sent.
    func asLossOfCommand(isSent: Bool) -> NetworkError {
        var error = self
        error.isUnsent = !isSent
        error.message +=
            isSent
            ? "; the command may have been executed, its reply has not arrived"
            : "; the command has not been sent"
        return error
    }
}
#endif
