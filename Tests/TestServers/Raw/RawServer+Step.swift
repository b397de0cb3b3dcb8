extension RawServer {
    /// One action of a scripted connection, performed exactly as written.
    public enum Step: Sendable {
        /// Reads the head, and the body that Content-Length or chunked coding announces.
        case readRequest
        /// Reads the head only, to respond before the body arrives (`100 Continue`, early refusals).
        case readHead
        /// Reads the body that the head of the last ``readHead`` announces.
        case readBody
        /// Reads the frames of an HTTP/2 connection up to the end of the next request. It is recorded with its body
        /// and the name `HTTP/2`; its fields are not read.
        case readStream
        /// Reads and discards at least this number of bytes.
        case drop(Int)
        /// Sends these bytes.
        case send([UInt8])
        /// Sends these bytes in writes of `size` bytes each.
        case sendInPieces([UInt8], size: Int)
        /// Sends the bytes `times` times; ``Record/Connection/bytesSent`` shows the progress.
        case sendRepeatedly([UInt8], times: Int)
        /// Sends back what arrives, until the client has closed or reset.
        case echo
        /// Connects to this port of 127.0.0.1 and forwards everything in both directions, until `bytes` bytes
        /// have come back from there, each piece of them delayed by `delay` milliseconds.
        case relay(port: UInt16, bytes: Int = .max, delay: Int = 0)
        /// Does nothing until the test opens the gate.
        case wait(Gate)
        /// Neither sends nor reads until the client has closed or reset.
        case stall
        /// Reads and discards bytes until the client has closed or reset.
        case waitForClientClose
        /// Reads bytes until the client has closed or reset; ``Record/Connection/received`` has them.
        case keep
        /// Closes the sending side (FIN), then reads and discards bytes until the client closes too.
        case close
        /// Waits for the first bytes of a request and closes without reading them, which resets the
        /// connection.
        case closeWithoutReading
        /// Resets the connection immediately (RST), together with undelivered data.
        case reset

        /// Sends this text.
        public static func send(_ text: String) -> Step { .send(Array(text.utf8)) }

        /// Sends this text in writes of `size` bytes each.
        public static func sendInPieces(_ text: String, size: Int = 1) -> Step {
            .sendInPieces(Array(text.utf8), size: size)
        }

        /// Sends a complete, valid response with its Content-Length.
        public static func respond(
            _ status: Int = 200, _ fields: KeyValuePairs<String, String> = [:], body: String = ""
        ) -> Step {
            var text = "HTTP/1.1 \(status) Scripted\r\nContent-Length: \(body.utf8.count)\r\n"
            for (name, value) in fields { text += "\(name): \(value)\r\n" }
            return .send(text + "\r\n" + body)
        }
    }
}
