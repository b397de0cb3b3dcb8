extension RawServer {
    /// One thing that a scripted connection does, byte by byte as it says and no more.
    public enum Step: Sendable {
        /// Reads up to the blank line, and the body that Content-Length or chunked coding announces.
        case readRequest
        /// Reads up to the blank line, to answer before the body is there (`100 Continue`, early refusals).
        case readHead
        /// Reads the body that the head of the last ``readHead`` announces.
        case readBody
        /// Reads and drops at least so many bytes.
        case drop(Int)
        /// Sends these bytes.
        case send([UInt8])
        /// Sends these bytes in writes of `size` bytes each.
        case sendInPieces([UInt8], size: Int)
        /// Sends the bytes so many times; ``Record/Connection/bytesSent`` tells how far it came.
        case sendRepeatedly([UInt8], times: Int)
        /// Connects to that port of 127.0.0.1 and passes everything on in both directions, until so many bytes have
        /// come back from there, each piece of them so many milliseconds later.
        case relay(port: UInt16, bytes: Int = .max, delay: Int = 0)
        /// Does nothing until the test opens the gate.
        case wait(Gate)
        /// Sends and reads nothing until the client goes away.
        case stall
        /// Reads and drops what the client sends until it goes away.
        case waitForClientClose
        /// Ends the sending side (FIN), then reads and drops what comes until the client closes too.
        case close
        /// Waits for the first bytes of a request and closes without reading them, which resets the connection.
        case closeWithoutReading
        /// Resets the connection (RST) at once, with what has not been delivered.
        case reset

        /// Sends this text.
        public static func send(_ text: String) -> Step { .send(Array(text.utf8)) }

        /// Sends this text in writes of `size` bytes each.
        public static func sendInPieces(_ text: String, size: Int = 1) -> Step {
            .sendInPieces(Array(text.utf8), size: size)
        }

        /// Sends a whole, well-formed response with its Content-Length.
        public static func respond(
            _ status: Int = 200, _ fields: KeyValuePairs<String, String> = [:], body: String = ""
        ) -> Step {
            var text = "HTTP/1.1 \(status) Scripted\r\nContent-Length: \(body.utf8.count)\r\n"
            for (name, value) in fields { text += "\(name): \(value)\r\n" }
            return .send(text + "\r\n" + body)
        }
    }
}
