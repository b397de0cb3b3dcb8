import RxNetworking

/// A fault of the server, selected by the path of the request, and its permitted outcomes.
struct Fault: Sendable {
    /// The server's action after it has sent its bytes.
    enum Ending: Sendable {
        case keep, close, reset, stall
    }

    let name: String
    /// The frequency, relative to the others.
    let weight: Int
    let reply: [UInt8]
    let ending: Ending
    /// The correct ends: a status, or the name of an error.
    let allowed: Set<String>
    var method = HTTPRequest.Method.get
    var timeouts: Timeouts?
    /// Whether the client cancels before the end.
    var isCancelled = false
    /// Whether the client may join the request with others, and store the response.
    var isCached = false

    var path: String { "/" + name }

    private init(
        _ name: String, _ weight: Int, _ reply: String, _ ending: Ending = .keep, gives allowed: Set<String>
    ) {
        self.init(name, weight, Array(reply.utf8), ending, gives: allowed)
    }

    private init(
        _ name: String, _ weight: Int, _ reply: [UInt8], _ ending: Ending, gives allowed: Set<String>
    ) {
        self.name = name
        self.weight = weight
        self.reply = reply
        self.ending = ending
        self.allowed = allowed
    }

    private func with(
        _ method: HTTPRequest.Method = .get, timeouts: Timeouts? = nil, isCancelled: Bool = false,
        isCached: Bool = false
    ) -> Fault {
        var fault = self
        fault.method = method
        fault.timeouts = timeouts
        fault.isCancelled = isCancelled
        fault.isCached = isCached
        return fault
    }

    private static func whole(_ body: String, _ fields: String = "", status: String = "200 OK") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    private static let json = #"{"id":7,"name":"green tea","price":3.5,"tags":["loose","new"]}"#
    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    /// A POST is sent once: it fails if the server has closed its connection.
    private static let sentOnce: Set = ["200", "connectionLost", "emptyReply"]

    /// On a reused connection curl sends a GET again, and fails when several of them in a row are closed.
    private static let lostUnanswered: Set = ["emptyReply", "connectionLost"]

    /// `whole`, compressed.
    private static let gzip: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 43, 207, 200, 207, 73, 5, 0, 79, 41, 89, 196, 5, 0, 0, 0,
    ]
    private static let gzipHead = Array(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n".utf8)

    static let all: [Fault] = [
        // No fault.
        Fault("json", 600, whole(json), gives: ["200"]),
        Fault(
            "chunked", 100, chunkedHead + "1e\r\n\(json.prefix(30))\r\n5\r\nwhole\r\n0\r\nA: b\r\n\r\n",
            gives: ["200"]),
        Fault("large", 40, whole(String(repeating: "x", count: 32 << 10)), gives: ["200"]),
        Fault("gzip", 40, gzipHead + gzip, .keep, gives: ["200"]),
        Fault("cached", 40, whole(json, "Cache-Control: max-age=0\r\nETag: \"a\"\r\n"), gives: ["200"])
            .with(isCached: true),
        Fault("post", 60, whole(json), gives: sentOnce).with(.post),
        Fault("early-hints", 10, "HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + whole(json), gives: ["200"]),
        Fault("not-found", 20, whole("no", status: "404 No"), gives: ["404"]),
        Fault("unavailable", 20, whole("later", status: "503 Later"), gives: ["503"]),
        Fault("redirect", 20, whole("", "Location: /json\r\n", status: "302 There"), gives: ["200"]),
        Fault("closing", 20, whole(json, "Connection: close\r\n"), .close, gives: ["200"]),
        // The connection returns to the pool, and is closed there or under the next request.
        Fault("closing-unsaid", 10, whole(json), .close, gives: ["200"]),
        // Incomplete.
        Fault("reset", 8, "", .reset, gives: ["connectionLost"]),
        Fault("no-answer", 8, "", .close, gives: lostUnanswered),
        Fault("head-cut-off", 8, "HTTP/1.1 200 OK\r\nContent-Len", .close, gives: ["emptyReply"]),
        Fault("head-reset", 8, "HTTP/1.1 200 OK\r\nA: b\r\n", .reset, gives: ["connectionLost"]),
        Fault(
            "body-cut-off", 8, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .close,
            gives: ["partialBody"]),
        Fault(
            "body-reset", 8, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .reset,
            gives: ["partialBody", "connectionLost"]),
        Fault("chunks-cut-off", 8, chunkedHead + "4\r\nhalf\r\n", .close, gives: ["partialBody"]),
        Fault("post-reset", 8, "", .reset, gives: ["connectionLost"]).with(.post),
        // Invalid.
        Fault("garbage", 4, "\u{1}\u{2} garbage\r\n\r\n", .close, gives: ["invalidResponse"]),
        Fault("bad-chunk", 4, chunkedHead + "xyz\r\nok\r\n", .close, gives: ["invalidResponse"]),
        Fault(
            "two-lengths", 4, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", .keep,
            gives: ["invalidResponse"]),
        Fault(
            "bad-gzip", 4, gzipHead + Array("this is no gzip at all...".utf8), .keep,
            gives: ["invalidResponse"]),
        Fault(
            "more-than-said", 4, whole("ok") + "HTTP/1.1 200 Evil\r\nContent-Length: 4\r\n\r\nevil", .keep,
            gives: ["200"]),
        Fault(
            "head-too-large", 1,
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: 0123456789\r\n", count: 20 << 10), .keep,
            gives: ["tooLarge"]),
        // Silent.
        Fault("no-head", 1, "", .stall, gives: ["firstByteTimeout"]).with(
            timeouts: Timeouts(firstByte: .milliseconds(40))),
        Fault("no-body", 1, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .stall, gives: ["idleTimeout"])
            .with(timeouts: Timeouts(idle: .milliseconds(40))),
        Fault("no-end", 1, "HTTP/1.1 200 OK\r\n\r\nabc", .stall, gives: ["attemptTimeout"])
            .with(timeouts: Timeouts(attempt: .milliseconds(40))),
        // Cancelled by the client.
        Fault(
            "cancelled", 10, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .stall, gives: ["cancelled"]
        )
        .with(isCancelled: true),
    ]
}
