#if Fleet
import FoundationEssentials
public import RxHTTP

extension RedisStore {
    /// The address of a Redis or Valkey, and the login there.
    ///
    /// ```
    /// redis://user:password@host:6379/0     over TCP
    /// rediss://:password@host:6380          over TLS
    /// unix://user:password@/run/redis.sock?db=2
    /// ```
    ///
    /// User, password and path may be percent-encoded. Defaults: port 6379, database 0, the user `default`, no password.
    public struct Address: Sendable, Hashable {
        /// The way to the server.
        public enum Route: Sendable, Hashable {
            /// A host and its port; over TLS the certificate must be the host's.
            case host(String, port: Int, isSecure: Bool)
            /// The path of a Unix socket.
            case socket(path: String)
        }

        /// The way to the server.
        public var route: Route
        /// The user of the ACL; `nil` for `default`.
        public var user: String?
        /// The password; `nil` for no login.
        public var password: String?
        /// The number of the database.
        public var database: Int

        /// Creates an address.
        ///
        /// - Parameters:
        ///   - route: the way to the server.
        ///   - user: the user of the ACL. Default `nil`: `default`.
        ///   - password: the password. Default `nil`: no login.
        ///   - database: the number of the database. Default 0.
        public init(_ route: Route, user: String? = nil, password: String? = nil, database: Int = 0) {
            self.route = route
            self.user = user
            self.password = password
            self.database = database
        }

        /// Reads an address from a URL.
        ///
        /// - Throws: `invalidConfiguration` for a text that is none; its message does not quote it, since it may contain a
        ///   password.
        public init(_ url: String) throws(NetworkError) {
            let parts = try Self.split(url)
            let (user, password) = try Self.login(parts.userInfo)
            let database: Int
            switch parts.scheme {
            case "redis", "rediss":
                let isSecure = parts.scheme == "rediss"
                let (host, port) = try Self.host(parts.authority)
                route = .host(host, port: port, isSecure: isSecure)
                guard parts.query == nil else { throw Self.invalid("it has a query") }
                database = try Self.database(parts.path.dropFirst())
            case "unix":
                guard parts.authority.isEmpty else {
                    throw Self.invalid("the path of a Unix socket begins with a slash")
                }
                route = .socket(path: try Self.decoded(parts.path))
                var number: Substring = ""
                if let query = parts.query {
                    guard query.hasPrefix("db=") else {
                        throw Self.invalid("the query of a Unix socket is db=number")
                    }
                    number = query.dropFirst(3)
                }
                database = try Self.database(number)
            default: throw Self.invalid("its scheme is not redis, rediss or unix")
            }
            self.user = user
            self.password = password
            self.database = database
            if let flaw { throw Self.invalid(flaw) }
        }

        /// The reason why the address cannot be used; `nil` if it can.
        var flaw: String? {
            switch route {
            case .host(let host, let port, _):
                let isHost =
                    host.contains(":")
                    ? host.utf8.allSatisfy { Self.addressBytes.contains($0) }
                    : !host.isEmpty && host.utf8.count <= 253 && host.utf8.allSatisfy { Self.isNameByte($0) }
                if !isHost { return "its host is not a name or an address" }
                if !(1...65535).contains(port) { return "its port is not a number from 1 to 65535" }
            case .socket(let path):
                // A socket's address has room for 108 bytes (unix(7)).
                if !path.hasPrefix("/") || path.utf8.contains(0) || path.utf8.count > 107 {
                    return "its path is not absolute, or longer than 107 bytes"
                }
            }
            if password == nil, user != nil { return "it has a user without a password" }
            if !(0...1 << 20).contains(database) { return "its database is not a number" }
            return nil
        }

        private static let addressBytes = Array("0123456789abcdefABCDEF:.".utf8)

        private static func isNameByte(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }

        /// The URL of the connection for the transport; for a Unix socket its host is of no importance.
        var connectionURL: String {
            switch route {
            case .host(let host, let port, let isSecure):
                "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
            case .socket: "http://localhost/"
            }
        }

        // MARK: - Parsing

        private struct Parts {
            var scheme: String
            var userInfo: Substring?
            var authority: Substring
            var path: Substring
            var query: Substring?
        }

        private static func split(_ url: String) throws(NetworkError) -> Parts {
            guard let colon = url.firstRange(of: "://") else { throw invalid("it has no scheme") }
            var rest = url[colon.upperBound...]
            guard !rest.contains("#") else { throw invalid("it has a fragment: encode # as %23") }
            var query: Substring?
            if let mark = rest.firstIndex(of: "?") {
                query = rest[rest.index(after: mark)...]
                rest = rest[..<mark]
            }
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            var authority = rest[..<slash]
            var userInfo: Substring?
            if let at = authority.lastIndex(of: "@") {
                userInfo = authority[..<at]
                authority = authority[authority.index(after: at)...]
            }
            return Parts(
                scheme: url[..<colon.lowerBound].lowercased(), userInfo: userInfo, authority: authority,
                path: rest[slash...], query: query)
        }

        private static func login(_ info: Substring?) throws(NetworkError) -> (String?, String?) {
            guard let info else { return (nil, nil) }
            guard let colon = info.firstIndex(of: ":") else {
                throw invalid("it has a user without a password")
            }
            let (user, password) = (
                try decoded(info[..<colon]), try decoded(info[info.index(after: colon)...])
            )
            guard !password.isEmpty else { throw invalid("its password is empty") }
            return (user.isEmpty ? nil : user, password)
        }

        private static func host(_ authority: Substring) throws(NetworkError) -> (String, Int) {
            let host: Substring
            var rest: Substring
            if authority.first == "[" {
                guard let end = authority.firstIndex(of: "]") else {
                    throw invalid("its host has no closing bracket")
                }
                host = authority[authority.index(after: authority.startIndex)..<end]
                rest = authority[authority.index(after: end)...]
                guard host.contains(":") else { throw invalid("its host is not a name or an address") }
            } else {
                let end = authority.firstIndex(of: ":") ?? authority.endIndex
                (host, rest) = (authority[..<end], authority[end...])
            }
            guard !rest.isEmpty else { return (String(host), 6379) }
            rest = rest.dropFirst()
            guard rest.utf8.count <= 5, rest.allSatisfy(\.isNumber), let port = Int(rest) else {
                throw invalid("its port is not a number from 1 to 65535")
            }
            return (String(host), port)
        }

        private static func database(_ text: Substring) throws(NetworkError) -> Int {
            guard !text.isEmpty else { return 0 }
            guard text.utf8.count <= 6, text.allSatisfy(\.isNumber), let number = Int(text) else {
                throw invalid("its database is not a number")
            }
            return number
        }

        private static func decoded(_ text: Substring) throws(NetworkError) -> String {
            var bytes: [UInt8] = []
            var rest = text.utf8[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "%") else {
                    bytes.append(byte)
                    continue
                }
                let digits = rest.prefix(2)
                let isHexadecimal =
                    digits.count == 2 && Character(Unicode.Scalar(digits.first ?? 0)).isHexDigit
                guard isHexadecimal, let value = UInt8(Substring(digits), radix: 16) else {
                    throw invalid("it has a percent sign without two digits: encode % as %25")
                }
                bytes.append(value)
                rest = rest.dropFirst(2)
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        private static func invalid(_ reason: String) -> NetworkError {
            NetworkError(.invalidConfiguration, "the text is not an address of Redis: \(reason)")
        }
    }
}

extension RedisStore.Address: RedactedDescription {
    /// The URL without user and password.
    public var description: String {
        switch route {
        case .host(let host, let port, let isSecure):
            "\(isSecure ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
        case .socket(let path): "unix://\(path)?db=\(database)"
        }
    }
}
#endif
