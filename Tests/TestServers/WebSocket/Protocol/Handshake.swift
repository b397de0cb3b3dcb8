/// The opening handshake on the side of the server.
enum Handshake {
    /// The largest head that it reads.
    static let largest = 16 << 10

    /// Reads a request up to the empty line; `nil` if it does not come whole and in time. A client sends
    /// nothing after it before it has the response, so what follows is an error too.
    static func readHead(from socket: inout CaseSocket, until deadline: ContinuousClock.Instant) -> String? {
        var head: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while head.count <= largest, case .bytes(let bytes) = socket.receive(until: deadline) {
            head += bytes
            if head.suffix(4).elementsEqual(end) { return String(decoding: head.dropLast(4), as: UTF8.self) }
        }
        return nil
    }

    /// Answers that there is no WebSocket.
    static func refuse(over socket: inout CaseSocket) {
        let response = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        _ = socket.send(Array(response.utf8)[...], until: .now + .seconds(1))
        socket.endSending()
        let deadline = ContinuousClock.now + .seconds(1)
        while case .bytes = socket.receive(until: deadline) {}
    }
}
