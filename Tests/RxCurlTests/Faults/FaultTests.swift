import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// One row a fault: what the user gets, that it ends once, and that the transport goes on as if nothing had been.
@Suite(.timeLimit(.minutes(1))) struct FaultTests {
    @Test(arguments: Fault.all)
    func isToldAsWhatItIs(_ fault: Fault) async throws { try await check(fault) }

    /// In a process of its own, since it looks at all that the process has.
    @Test func leavesNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            // The first loop of a process, and what asks for time and names, make what the process keeps.
            try await FaultTests().check(Fault.broken[0])
            for fault in Fault.all {
                let before = try openDescriptors()
                try await FaultTests().check(fault)
                #expect(try openDescriptors() == before, "\(fault.name)")
            }
        }
    }

    private func check(_ fault: Fault) async throws {
        // Had curl tried again by itself, it would be answered well.
        let server = try RawServer([fault.steps, [.readRequest, .respond(body: "well")]])
        var request = try Request.to(server.baseURL, method: fault.method, body: fault.body)
        request.timeouts = fault.timeouts
        let recording = try await withTransport { transport in
            let recording = Recording(transport.send(request))
            _ = try await recording.ended()
            #expect(try await transport.get(server.baseURL).text == "well")
            return recording
        }
        let log = recording.log
        #expect(log.ends.count == 1)
        #expect(log.afterEnd == 0)
        switch fault.outcome {
        case .fails(let code, let status):
            let error = try #require(log.error)
            #expect(error.code == code)
            if code == .attemptTimeout {
                // How far it came by then is the machine's to say.
                #expect(error.status == log.head?.status)
                #expect(!error.isUnsent || !server.record.requests.contains { $0.connection == 0 })
            } else {
                #expect(error.status?.code == status)
                #expect(!error.isUnsent)
            }
            #expect(!error.message.isEmpty)
            #expect(error.requestID == request.id)
            #expect(log.kinds.last != "finished")
        case .answers(let status, let body, let fields):
            #expect(log.error == nil)
            #expect(log.head?.status.code == status)
            #expect(String(decoding: log.body, as: UTF8.self) == body)
            for (name, value) in fields { #expect(log.head?[name] ?? "" == value) }
            #expect(log.kinds.last == "finished")
        }
    }
}
