import HTTPTypes
import RxHTTP
import TestServers
import Testing

/// A fault of a server, and the expected result.
struct Fault: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable {
        /// An error, and the status of the response if one was received.
        case fails(NetworkError.Code, status: Int? = nil)
        /// A response.
        case answers(Int = 200, body: String = "", fields: [HTTPField.Name: String] = [:])
    }

    let name: String
    let steps: [RawServer.Step]
    let outcome: Outcome
    var method: HTTPRequest.Method = .get
    var body: Body = .empty
    var timeouts = Timeouts()

    var testDescription: String { name }

    /// A request that is read, and the bytes that are sent then; after that the server closes, unless told
    /// otherwise.
    static func sends(
        _ name: String, _ text: String, then steps: [RawServer.Step] = [.close], _ outcome: Outcome
    ) -> Fault {
        Fault(name: name, steps: [.readRequest, .send(text)] + steps, outcome: outcome)
    }

    /// A head of 200 with these field lines, and a body.
    static func sends(
        _ name: String, fields: [String], body: String = "", then steps: [RawServer.Step] = [.close],
        _ outcome: Outcome
    ) -> Fault {
        sends(
            name, "HTTP/1.1 200 OK\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body, then: steps,
            outcome)
    }

    /// A chunked body, unchanged.
    static func sends(
        _ name: String, chunks: String, then steps: [RawServer.Step] = [.close], _ outcome: Outcome
    ) -> Fault {
        sends(name, fields: ["Transfer-Encoding: chunked"], body: chunks, then: steps, outcome)
    }

    /// A coded body with the right length.
    static func sends(_ name: String, coding: String, _ bytes: [UInt8], _ outcome: Outcome) -> Fault {
        let head =
            "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(bytes.count)\r\n\r\n"
        return Fault(name: name, steps: [.readRequest, .send(Array(head.utf8) + bytes)], outcome: outcome)
    }

    /// With a limit, after which the result is known.
    static func stalls(
        _ name: String, after text: String,
        limit: WritableKeyPath<Timeouts, Duration?> = \.attempt,
        _ code: NetworkError.Code = .attemptTimeout, status: Int? = nil
    ) -> Fault {
        sends(name, text, then: [.stall], .fails(code, status: status)).limited(limit)
    }

    /// The same for silence: of the response's first line if it is incomplete, which libcurl does not report
    /// until then, else of the received bytes.
    static func falls(silent name: String, after text: String, status: Int? = nil) -> Fault {
        let isBegun = text.utf8.contains(0x0A) && !text.hasPrefix("HTTP/1.1 1")
        return stalls(
            name, after: text, limit: isBegun ? \.idle : \.firstByte,
            isBegun ? .idleTimeout : .firstByteTimeout, status: status)
    }

    func limited(_ limit: WritableKeyPath<Timeouts, Duration?>) -> Fault {
        var fault = self
        fault.timeouts[keyPath: limit] = .milliseconds(600)
        return fault
    }

    /// A POST of 8 MiB, more than a socket buffer holds.
    static func uploads(_ name: String, _ steps: [RawServer.Step], _ outcome: Outcome) -> Fault {
        Fault(
            name: name, steps: steps, outcome: outcome, method: .post,
            body: .bytes([UInt8](repeating: 0x61, count: 8 << 20)))
    }

    func with(_ method: HTTPRequest.Method) -> Fault {
        var fault = self
        fault.method = method
        return fault
    }
}
