import FoundationEssentials
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

/// Resources left behind by many transfers. Each test is a separate process, since it counts all its
/// resources.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ResourceTests {
    @Test func tenThousandCancelledHalfwayLeaveNothing() async {
        await #expect(processExitsWith: .success) {
            let server = try NginxServer()
            // The first loop of a process creates a pipe for signals that libuv keeps.
            EventLoop(name: "first").shutDown()
            let before = try openDescriptors()
            try await withTransport { transport in
                let request = try Request.to(server.baseURL + "/slow")
                _ = try await transport.get(server.baseURL + "/json")
                let idle = try openDescriptors()
                let living = Token.Count()
                let slots = Slots(64)
                let cancelled = Board(0)
                let thread = try JoinableThread {
                    for _ in 0..<10_000 {
                        slots.take()
                        let bag = SubscriptionBag()
                        let token = Token(living)
                        // On the loop, so that the bag is filled before the first chunk arrives.
                        transport.loop.schedule {
                            transport.send(request).subscribe(onNext: { event in
                                token.touch()
                                guard case .chunk = event else { return }
                                bag.cancel()
                                slots.give()
                                cancelled.update { $0 += 1 }
                            }).store(in: bag)
                        }
                    }
                }
                _ = try await cancelled.until { $0 == 10_000 ? true : nil }
                thread.join()
                #expect(try await transport.get(server.baseURL + "/json").text == NginxServer.json)
                #expect(cancelled.contents == 10_000)
                #expect(living.value == 0)
                #expect(try openDescriptors() == idle)
            }
            #expect(try openDescriptors() == before)
            server.stop()
        }
    }

    @Test func aGzipBombTakesNoMemory() async {
        await #expect(processExitsWith: .success) {
            let bomb = Gzip.zeros(count: 100 << 20)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
            let server = try RawServer([[.readRequest, .send(Array(head.utf8) + bomb)]])
            try await withTransport { transport in
                let request = try Request.to(server.baseURL)
                let before = try peakMemory()
                for _ in 0..<20 {
                    let log = try await Recording(transport.send(request)).ended()
                    #expect(log.error?.code == .tooLarge)
                    // A hundred times the size of one read from the socket.
                    #expect(log.body.count < 8 << 20)
                }
                #expect(try peakMemory() - before < 32 << 20)
            }
        }
    }

    /// A pause in the middle of it, during which curl would decode.
    @Test func aPausedGzipBombTakesNoMemory() async {
        await #expect(processExitsWith: .success) {
            let bytes = Gzip.deflatedZeros(count: 256 << 20)
            let head =
                "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(bytes.count)\r\n\r\n"
            let server = try RawServer([[.readRequest, .send(Array(head.utf8) + bytes)]])
            try await withTransport(configured: { $0.expansionLimit = 10_000 }) { transport in
                let before = try peakMemory()
                let count = Atomic(0)
                let recording = Recording(transport.send(try .to(server.baseURL)), keepsBody: false) {
                    event, subscription in
                    guard case .chunk(let piece) = event else { return }
                    if count.add(piece.count, ordering: .relaxed).oldValue == 0 { subscription.pause() }
                }
                _ = try await recording.until { $0.chunks == 1 ? true : nil }
                for _ in 0..<200 { await transport.loop.poll() }
                #expect(try peakMemory() - before < 16 << 20)
                #expect(recording.log.chunks == 1)
                recording.resume()
                #expect(try await recording.ended().error == nil)
                #expect(count.load(ordering: .relaxed) > 255 << 20)
                #expect(try peakMemory() - before < 16 << 20)
            }
        }
    }

    @Test func aBodyOfAGibibyteTakesNoMemory() async {
        await #expect(processExitsWith: .success) {
            let block = [UInt8](repeating: 7, count: 1 << 20)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(1 << 30)\r\n\r\n"
            let server = try RawServer([[.readRequest, .send(head), .sendRepeatedly(block, times: 1024)]])
            try await withTransport { transport in
                let before = try peakMemory()
                let request = try Request.to(server.baseURL)
                var count = 0
                for try await event in transport.send(request).values(buffering: .suspend(high: 8, low: 2)) {
                    if case .chunk(let bytes) = event { count += bytes.count }
                }
                #expect(count == 1 << 30)
                #expect(try peakMemory() - before < 32 << 20)
            }
        }
    }
}

/// The number of open descriptors of this process, including the one that lists them, but not the timer that libdispatch
/// opens when a task sleeps for the first time.
func openDescriptors() throws -> Int {
    let folder = "/proc/self/fd"
    return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
        // The one that lists them is closed by now.
        let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
        return file?.contains("timerfd") != true
    }
}

/// The maximum memory that this process has used so far, in bytes.
func peakMemory() throws -> Int {
    let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.split(separator: " ")[1])) << 10
}
