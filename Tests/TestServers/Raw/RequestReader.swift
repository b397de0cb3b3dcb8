/// Reads requests from a connection, and buffers the bytes after them.
struct RequestReader {
    private var buffered: ArraySlice<UInt8> = []
    /// Whether the first bytes of an HTTP/2 connection have been read.
    private var hasPreface = false

    /// Reads the head of the next request. Its body is not read.
    mutating func readHead(
        from socket: borrowing ConnectionSocket, connection: Int, index: Int
    ) throws(RawServer.End) -> RawServer.Request {
        let requestLine = try readLine(from: socket).split(separator: " ", omittingEmptySubsequences: false)
        guard requestLine.count == 3, requestLine[2] == "HTTP/1.1" else {
            throw .malformedRequest("request line \(requestLine)")
        }
        var fields: [(name: String, value: String)] = []
        while true {
            let line = try readLine(from: socket)
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else { throw .malformedRequest("field \(line)") }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append((String(line[..<colon]), String(value)))
        }
        return RawServer.Request(
            connection: connection, index: index, method: String(requestLine[0]),
            target: String(requestLine[1]), fields: fields)
    }

    /// Reads the body that the head announces.
    mutating func readBody(
        of head: RawServer.Request, from socket: borrowing ConnectionSocket
    ) throws(RawServer.End) -> [UInt8] {
        if head.field("Transfer-Encoding")?.lowercased() == "chunked" {
            return try readChunks(from: socket)
        }
        guard let announced = head.field("Content-Length") else { return [] }
        guard let count = Int(announced), count >= 0 else {
            throw .malformedRequest("Content-Length \(announced)")
        }
        return try read(count, from: socket)
    }

    /// Reads the body that the head announces, and passes it on as it arrives.
    mutating func readPieces(
        of head: RawServer.Request, from socket: borrowing ConnectionSocket,
        _ take: ([UInt8]) throws(RawServer.End) -> Void
    ) throws(RawServer.End) {
        if head.field("Transfer-Encoding")?.lowercased() == "chunked" {
            while true {
                let line = try readLine(from: socket)
                guard let count = Int(line.prefix { $0 != ";" }, radix: 16), count >= 0 else {
                    throw .malformedRequest("chunk size \(line)")
                }
                if count == 0 { break }
                try readPieces(count, from: socket, take)
                guard try readLine(from: socket).isEmpty else { throw .malformedRequest("chunk end") }
            }
            while try !readLine(from: socket).isEmpty {}
        } else if let count = head.field("Content-Length").flatMap({ Int($0) }) {
            try readPieces(count, from: socket, take)
        }
    }

    private mutating func readPieces(
        _ count: Int, from socket: borrowing ConnectionSocket,
        _ take: ([UInt8]) throws(RawServer.End) -> Void
    ) throws(RawServer.End) {
        var left = count
        while left > 0 {
            if buffered.isEmpty { buffered = try socket.receive()[...] }
            let piece = Array(buffered.prefix(left))
            buffered = buffered.dropFirst(piece.count)
            left -= piece.count
            try take(piece)
        }
    }

    /// Reads HTTP/2 frames up to the end of a stream, and returns its body (RFC 9113 §4.1). The fields are skipped.
    mutating func readStream(from socket: borrowing ConnectionSocket) throws(RawServer.End) -> [UInt8] {
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        if !hasPreface {
            guard try read(preface.count, from: socket) == preface else { throw .malformedRequest("preface") }
            hasPreface = true
        }
        var body: [UInt8] = []
        while true {
            let head = try read(9, from: socket)
            let payload = try read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]), from: socket)
            let (type, flags) = (head[3], head[4])
            guard type < 2 else { continue }
            if type == 0 { body += payload }
            if flags & 1 != 0 { return body }
        }
    }

    private mutating func readChunks(from socket: borrowing ConnectionSocket) throws(RawServer.End) -> [UInt8]
    {
        var body: [UInt8] = []
        while true {
            let line = try readLine(from: socket)
            guard let count = Int(line.prefix { $0 != ";" }, radix: 16), count >= 0 else {
                throw .malformedRequest("chunk size \(line)")
            }
            if count == 0 { break }
            body += try read(count, from: socket)
            guard try readLine(from: socket).isEmpty else { throw .malformedRequest("chunk end") }
        }
        while try !readLine(from: socket).isEmpty {}
        return body
    }

    private mutating func read(
        _ count: Int, from socket: borrowing ConnectionSocket
    ) throws(RawServer.End) -> [UInt8] {
        while buffered.count < count { buffered += try socket.receive() }
        defer { buffered = buffered.dropFirst(count) }
        return Array(buffered.prefix(count))
    }

    private mutating func readLine(from socket: borrowing ConnectionSocket) throws(RawServer.End) -> String {
        while true {
            if let end = buffered.firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffered[..<end]
                guard line.last == UInt8(ascii: "\r") else { throw .malformedRequest("line without CR") }
                buffered = buffered[buffered.index(after: end)...]
                return String(decoding: line.dropLast(), as: UTF8.self)
            }
            buffered += try socket.receive()
        }
    }
}
