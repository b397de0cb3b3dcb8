import TestServers

/// An object on a raw server, with ranges by RFC 9110.
enum ObjectWireServer {
    /// - Parameter cut: the number of body bytes after which the connection of a request is reset; `nil` for none.
    static func start(
        _ content: [UInt8], tag: String = "\"v1\"", fields: [(String, String)] = [],
        cut: @escaping @Sendable (RawServer.Request) -> Int? = { _ in nil }
    ) throws -> RawServer {
        try RawServer { request in
            var lines = ["ETag: \(tag)", "Accept-Ranges: bytes"] + fields.map { "\($0.0): \($0.1)" }
            var body = content[...]
            var status = "200 OK"
            if let range = request.field("Range"), request.field("If-Range").map({ $0 == tag }) ?? true {
                let ends = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
                let last = ends.count > 1 ? ends[1] : content.count - 1
                body = content[ends[0]...last]
                status = "206 Partial Content"
                lines.append("Content-Range: bytes \(ends[0])-\(last)/\(content.count)")
            }
            lines.append("Content-Length: \(body.count)")
            let head = (["HTTP/1.1 \(status)"] + lines + ["", ""]).joined(separator: "\r\n")
            guard let cut = cut(request), cut < body.count else {
                return [.send(head), .send(Array(body))]
            }
            return [.send(head), .send(Array(body.prefix(cut))), .reset]
        }
    }
}
