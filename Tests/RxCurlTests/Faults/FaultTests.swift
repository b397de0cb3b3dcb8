import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// One row for each fault: the result, a single end, and a transport that remains usable.
@Suite(.timeLimit(.minutes(1))) struct FaultTests {
    @Test(arguments: Fault.all)
    func isToldAsWhatItIs(_ fault: Fault) async throws { try await check(fault) }

    /// In a separate process, since it counts the resources of the whole process.
    @Test func leavesNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            // The first loop of a process, and lookups of time and names, create objects that the process
            // keeps.
            try await FaultTests().check(Fault.broken[0])
            for fault in Fault.all {
                let before = try openDescriptors()
                try await FaultTests().check(fault)
                #expect(try openDescriptors() == before, "\(fault.name)")
            }
        }
    }

    private func check(_ fault: Fault) async throws {
        // If curl had tried again on its own, it would get a good response.
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
                // The progress at that moment depends on the machine.
                #expect(error.status == log.head?.status)
                #expect(!error.isUnsent || !server.record.requests.contains { $0.connection == 0 })
            } else {
                #expect(error.status?.code == status)
                #expect(!error.isUnsent)
            }
            #expect(!error.message.isEmpty && !error.message.lowercased().contains("curl"))
            #expect(error.details?.isEmpty != true)
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
