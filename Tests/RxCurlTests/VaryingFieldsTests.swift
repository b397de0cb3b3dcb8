import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// Requests whose header fields are equal except for some share the memory of the others.
@Suite(.timeLimit(.minutes(1))) struct VaryingFieldsTests {
    private typealias Field = (name: String, value: String)

    /// Sends requests with these fields, `limit` at a time, and returns the fields that the server received, by the
    /// requests' numbers.
    private func received(
        _ requests: [[Field]], limit: Int, body: Body = .empty,
        configured configure: (inout CurlTransport.Configuration) -> Void = { _ in }
    ) async throws -> [Int: [String]] {
        let server = try RawServer { _ in [.respond()] }
        let made = try requests.enumerated().map { number, fields in
            var request = try Request.to(
                "\(server.baseURL)/\(number)", method: body.isEmpty ? .get : .post, body: body)
            for field in fields {
                let name = try #require(HTTPField.Name(field.name))
                request.headerFields.append(HTTPField(name: name, value: field.value))
            }
            return request
        }
        try await withTransport(configured: configure) { transport in
            let responses = Observable<Request, Never>.sequence(made).setFailureType(to: NetworkError.self)
                .flatMap(.merge(limit: limit)) { transport.send($0).response(to: $0) }
            var count = 0
            for try await response in responses.values(buffering: .unbounded) {
                #expect(response.status == .ok)
                count += 1
            }
            #expect(count == requests.count)
        }
        let usual: Set = ["host", "accept", "accept-encoding", "content-length", "user-agent", "connection"]
        return try Dictionary(
            uniqueKeysWithValues: server.record.requests.map { request in
                let own = request.fields.filter { !usual.contains($0.name.lowercased()) }
                return (
                    try #require(Int(request.target.dropFirst())), own.map { "\($0.name): \($0.value)" }
                )
            })
    }

    @Test(arguments: [1, 2, 8])
    func eachTransferSendsItsOwnFields(atOnce limit: Int) async throws {
        let requests: [[Field]] = (0..<64).map {
            [("X-First", "same"), ("X-Second", "same"), ("traceparent", "00-\($0)"), ("baggage", "n=\($0)")]
        }
        let seen = try await received(requests, limit: limit)
        #expect(seen.count == 64)
        for (number, fields) in seen {
            #expect(
                fields.sorted() == [
                    "X-First: same", "X-Second: same", "baggage: n=\(number)", "traceparent: 00-\(number)",
                ])
        }
    }

    @Test func equalTextsOfOtherBytesAreNotShared() async throws {
        // The same text for Swift, but not the same bytes.
        let texts = ["caf\u{E9}", "cafe\u{301}"]
        let seen = try await received(texts.map { [("X-Name", $0)] }, limit: 1)
        for (number, text) in texts.enumerated() {
            let sent = try #require(seen[number]?.first?.dropFirst("X-Name: ".count))
            #expect(Array(sent.utf8) == Array(text.utf8))
        }
    }

    @Test func transfersOverOneConnectionSendTheirOwnFields() async throws {
        let requests: [[Field]] = (0..<32).map { [("X-First", "same"), ("traceparent", "00-\($0)")] }
        let seen = try await received(requests, limit: 8) { $0.maxConnectionsPerOrigin = 1 }
        #expect(seen.count == 32)
        for (number, fields) in seen {
            #expect(fields.sorted() == ["X-First: same", "traceparent: 00-\(number)"])
        }
    }

    @Test func theOnlyFieldMayVary() async throws {
        let requests: [[Field]] = (0..<16).map { [("traceparent", "00-\($0)")] }
        let seen = try await received(requests, limit: 4, body: .text("a=b"))
        #expect(seen.count == 16)
        for (number, fields) in seen { #expect(fields == ["traceparent: 00-\(number)"]) }
    }

    @Test func valuesAlternate() async throws {
        let requests: [[Field]] = (0..<24).map {
            [("X-First", "\($0 % 3)"), ("X-Second", "\($0 % 2)"), ("X-Third", $0 % 4 == 0 ? "" : "full")]
        }
        let seen = try await received(requests, limit: 2)
        for (number, fields) in seen {
            let third = number % 4 == 0 ? "X-Third: " : "X-Third: full"
            #expect(
                fields.sorted() == ["X-First: \(number % 3)", "X-Second: \(number % 2)", third], "\(number)")
        }
        #expect(seen.count == 24)
    }

    @Test func fieldsOfOneNameStayInTheirOrder() async throws {
        let requests: [[Field]] = (0..<8).map {
            [("X-Other", "same"), ("X-List", "1"), ("X-List", "2-\($0)"), ("X-Last", "\($0)")]
        }
        let seen = try await received(requests, limit: 1)
        #expect(seen.count == 8)
        for (number, fields) in seen {
            #expect(fields.filter { $0.hasPrefix("X-List") } == ["X-List: 1", "X-List: 2-\(number)"])
            #expect(fields.count == 4 && fields.contains("X-Last: \(number)"))
        }
    }

    @Test func varyingCookiesAreSentAsOneField() async throws {
        let requests: [[Field]] = (0..<8).map {
            [("X-Other", "same"), ("Cookie", "a=1"), ("Cookie", "b=\($0)")]
        }
        let seen = try await received(requests, limit: 2)
        #expect(seen.count == 8)
        for (number, fields) in seen {
            #expect(fields.sorted() == ["Cookie: a=1; b=\(number)", "X-Other: same"])
        }
    }
}
