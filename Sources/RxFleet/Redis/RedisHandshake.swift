#if Fleet
import RxHTTP

/// The commands with which a connection begins, and what their replies mean. The ACL in Redis.md allows these and no
/// others.
struct RedisHandshake: Sendable {
    /// One command of the handshake.
    enum Step: Sendable {
        case hello, select, tracking
    }

    let steps: [(step: Step, command: RedisCommand)]

    /// - Parameters:
    ///   - address: the login and the database.
    ///   - name: the name of the connection in Redis (`CLIENT LIST`); without spaces.
    ///   - prefix: the beginning of the keys whose changes Redis reports (`CLIENT TRACKING`). Default `nil`: none.
    init(to address: RedisStore.Address, as name: String, tracking prefix: [UInt8]? = nil) {
        var hello = ["HELLO", "3"]
        if let password = address.password { hello += ["AUTH", address.user ?? "default", password] }
        hello += ["SETNAME", name]
        var steps = [(step: Step.hello, command: RedisCommand(hello.map { Array($0.utf8) }))]
        if address.database != 0 {
            steps.append((.select, RedisCommand("SELECT", "\(address.database)")))
        }
        if let prefix {
            steps.append(
                (.tracking, RedisCommand("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", bytes: [prefix])))
        }
        self.steps = steps
    }

    /// Throws if the reply to a step means that the server cannot be used.
    static func check(_ reply: RESPValue, to step: Step) throws(NetworkError) {
        switch (step, reply) {
        case (.hello, .error(let failure)):
            // The text is not shown: a server that does not know the command quotes its arguments.
            guard failure.code == "ERR", failure.text.contains("unknown command") else {
                throw RedisErrors.error(for: failure, isSecret: true)
            }
            throw NetworkError(
                .storeUnsupported, "the server does not know HELLO: Redis 7 or Valkey is needed")
        case (_, .error(let failure)):
            var error = RedisErrors.error(for: failure)
            if step == .select, error.code == .storeFailure {
                error.message = "Redis does not have the database of its address"
            }
            throw error
        case (.hello, _): try checkServer(reply)
        case (_, .simple("OK")): break
        case (_, let other): throw RedisErrors.unexpected(other, instead: "OK")
        }
    }

    /// Checks what the server says of itself.
    private static func checkServer(_ reply: RESPValue) throws(NetworkError) {
        guard case .map = reply, let protocolVersion = reply["proto"] else {
            throw RedisErrors.unexpected(reply, instead: "a description of the server")
        }
        guard protocolVersion == .integer(3) else {
            throw RedisErrors.malformed("it has not agreed to version 3")
        }
        switch reply["mode"]?.text {
        case "sentinel": throw RedisErrors.sentinel
        case "cluster": throw RedisErrors.cluster
        default: break
        }
        guard reply["role"]?.text != "replica", reply["role"]?.text != "slave" else {
            throw NetworkError(
                .storeReadOnly,
                "this Redis is a replica, which takes no writes: give the address of the master")
        }
    }
}
#endif
