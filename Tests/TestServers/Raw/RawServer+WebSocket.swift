extension RawServer.Request {
    /// The value of `Sec-WebSocket-Accept` for the key of the request (RFC 6455 §4.2.2).
    public var webSocketAccept: String {
        let text = (field("Sec-WebSocket-Key") ?? "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        return Base64.encode(SHA1.digest(Array(text.utf8)))
    }

    /// The response that opens a WebSocket.
    ///
    /// - Parameter fields: more fields, each with its line end.
    public func webSocketResponse(_ fields: String = "") -> [UInt8] {
        Array(
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(webSocketAccept)\r\n\(fields)\r\n").utf8)
    }
}

extension RawServer.Record.Connection {
    /// The frames of a client, without their masks, in the bytes that ``RawServer/Step/keep`` has read. A frame
    /// that is not masked ends the list.
    public var webSocketFrames: [(opcode: UInt8, payload: [UInt8])] {
        var reader = FrameReader()
        reader.append(received)
        var frames: [(opcode: UInt8, payload: [UInt8])] = []
        while let next = try? reader.next(), next.isMasked {
            frames.append((next.frame.opcode.rawValue, next.frame.payload.bytes))
        }
        return frames
    }

    /// The codes of the close frames among them; 1005 for one without a code.
    public var webSocketCloseCodes: [Int] {
        webSocketFrames.filter { $0.opcode == Opcode.close.rawValue }.map { frame in
            frame.payload.count < 2 ? 1005 : Int(frame.payload[0]) << 8 | Int(frame.payload[1])
        }
    }
}
