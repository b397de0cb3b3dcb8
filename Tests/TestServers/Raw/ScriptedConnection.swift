/// One accepted connection, running on a separate thread.
struct ScriptedConnection: ~Copyable {
    private let index: Int
    private let socket: ConnectionSocket
    private let board: RecordBoard
    private var reader = RequestReader()
    private var requestCount = 0
    private var head: RawServer.Request?

    init(_ index: Int, _ socket: consuming ConnectionSocket, board: RecordBoard) {
        self.index = index
        self.socket = socket
        self.board = board
    }

    /// Runs until the script, the client or the server ends it, and records how.
    consuming func play(_ script: RawServer.Script) {
        let (index, board) = (index, board)
        var last: RawServer.Step?
        let end: RawServer.End
        do {
            switch script {
            case .perConnection(let scripts):
                if let steps = scripts.indices.contains(index) ? scripts[index] : scripts.last {
                    for step in steps where last == nil { last = try perform(step) }
                }
            case .perRequest(let respond):
                while last == nil {
                    let request = try readRequest()
                    for step in respond(request) where last == nil { last = try perform(step) }
                }
            }
            if last == nil { last = try perform(.close) }
            end = .script
        } catch {
            end = error
        }
        // First closes, then records: a test that sees the end finds the connection closed.
        if case .reset = last { socket.reset() } else { socket.close() }
        board.update { $0.connections[index].end = end }
    }

    /// Performs a step; returns the step if it ends the connection.
    private mutating func perform(_ step: RawServer.Step) throws(RawServer.End) -> RawServer.Step? {
        switch step {
        case .readRequest: _ = try readRequest()
        case .readHead: record(try readHead())
        case .readBody: try readBody()
        case .readStream:
            let body = try reader.readStream(from: socket)
            record(
                .init(
                    connection: index, index: requestCount, method: "HTTP/2", target: "", fields: [],
                    body: body))
            requestCount += 1
        case .drop(let count):
            var left = count
            while left > 0 { left -= try socket.receive().count }
        case .send(let bytes): try send(bytes)
        case .sendInPieces(let bytes, let size):
            for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
                try send(bytes[start..<min(bytes.count, start + max(1, size))])
            }
        case .sendRepeatedly(let bytes, let times):
            for _ in 0..<times { try send(bytes) }
        case .echo:
            while true { try send(try socket.receive()) }
        case .relay(let port, let bytes, let delay):
            let (index, board) = (index, board)
            try socket.relay(to: port, bytes: bytes, delay: delay) { count in
                board.update { $0.connections[index].bytesSent += count }
            }
        case .wait(let gate): try socket.wait(for: gate)
        case .stall:
            try socket.waitForHangUp()
            throw .clientClosed
        case .waitForClientClose:
            let (index, board) = (index, board)
            while true {
                let count = try socket.receive().count
                board.update { $0.connections[index].bytesDropped += count }
            }
        case .keep:
            let (index, board) = (index, board)
            while true {
                let bytes = try socket.receive()
                board.update { $0.connections[index].received += bytes }
            }
        case .close:
            socket.endSending()
            let index = index
            board.update { $0.connections[index].hasEndedSending = true }
            while true { _ = try socket.receive() }
        case .closeWithoutReading:
            try socket.waitForBytes()
            return step
        case .reset:
            return step
        }
        return nil
    }

    private func send(_ bytes: some Collection<UInt8>) throws(RawServer.End) {
        let (index, board) = (index, board)
        try socket.send(
            bytes,
            stalled: { board.update { $0.connections[index].sendStalls += 1 } },
            progress: { count in board.update { $0.connections[index].bytesSent += count } })
    }

    private mutating func readHead() throws(RawServer.End) -> RawServer.Request {
        let request = try reader.readHead(from: socket, connection: index, index: requestCount)
        requestCount += 1
        head = request
        return request
    }

    private mutating func readBody() throws(RawServer.End) {
        guard let head else { throw .malformedRequest("the script reads a body before a head") }
        let (body, index) = (try reader.readBody(of: head, from: socket), index)
        board.update { record in
            let place = record.requests.lastIndex { $0.connection == index && $0.index == head.index }
            if let place { record.requests[place].body = body }
        }
    }

    private mutating func readRequest() throws(RawServer.End) -> RawServer.Request {
        var request = try readHead()
        request.body = try reader.readBody(of: request, from: socket)
        record(request)
        return request
    }

    private func record(_ request: RawServer.Request) {
        board.update { $0.requests.append(request) }
    }
}
