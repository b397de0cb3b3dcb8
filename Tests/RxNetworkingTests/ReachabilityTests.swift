#if canImport(Glibc)
import Dispatch
import Foundation
import Glibc
import RxNetworking
import TestServers
import Testing

/// The kernel's own notifications, in a network namespace made for the test.
@Suite(.timeLimit(.minutes(1))) struct ReachabilityTests {
    /// Whether a namespace with interfaces can be made here.
    private static func hasNamespaces() async throws -> Bool {
        try await succeeds(
            start("unshare", "-n", "ip", "link", "add", "rx0", "type", "veth", "peer", "name", "rx1"))
    }

    /// Starts a command in the network namespace of the calling thread.
    private static func start(_ command: String...) throws -> ChildProcess {
        try ChildProcess("/usr/bin/env", command)
    }

    private static func succeeds(_ command: ChildProcess) async throws -> Bool {
        try await command.ended().ending == .exited(0)
    }

    /// Runs on the loop's thread, which alone is in the namespace.
    private func onLoop<T: Sendable>(
        _ loop: EventLoop, _ work: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            loop.schedule { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// The status follows the interfaces.
    @Test(.enabled("needs the right to make a network namespace, and ip(8)") { try await hasNamespaces() })
    func namespace() async throws {
        let loop = EventLoop(name: "netns")
        defer { loop.shutDown() }
        #expect(try await onLoop(loop) { Namespace.network.enter() })
        let reachability = NetlinkReachability(on: loop)
        #expect(reachability.status == .unknown)
        reachability.start()
        reachability.start()
        #expect(try await reachability.statuses.filter { $0 != .unknown }.value() == .unreachable)

        let server = try RawServer { _ in [.respond(200)] }
        var configuration = ClientConfiguration()
        configuration.reachability = reachability
        let client = Client(baseURL: server.baseURL, configuration: configuration)
        let error = await #expect(throws: NetworkError.self) { try await client.get("/").value() }
        #expect(error?.code == .unreachable)
        #expect(server.record.requests.isEmpty)

        let script = """
            ip link add rx0 type veth peer name rx1 && ip addr add 10.9.8.7/24 dev rx0 \
            && ip link set rx1 up && ip link set rx0 up
            """
        #expect(try await Self.succeeds(onLoop(loop) { try Self.start("sh", "-c", script) }))
        #expect(try await reachability.statuses.filter(\.isReachable).value() == .wired)
        #expect(try await client.get("/").value().status == .ok)

        let down = try await onLoop(loop) { try Self.start("ip", "link", "set", "rx0", "down") }
        #expect(try await Self.succeeds(down))
        #expect(try await reachability.statuses.filter { !$0.isReachable }.value() == .unreachable)
        reachability.stop()
        #expect(try await reachability.statuses.filter { $0 == .unknown }.value() == .unknown)
        #expect(try await client.get("/").value().status == .ok)
    }

    /// The loop is blocked while the kernel has more messages than its socket can hold (ENOBUFS).
    /// Changes are noticed after some were lost.
    @Test(.enabled("needs the right to make a network namespace, and ip(8)") { try await hasNamespaces() })
    func overflow() async throws {
        let loop = EventLoop(name: "overflow")
        defer { loop.shutDown() }
        #expect(try await onLoop(loop) { Namespace.network.enter() })
        let reachability = NetlinkReachability(on: loop)
        reachability.start()
        #expect(try await reachability.statuses.filter { $0 != .unknown }.value() == .unreachable)

        let folder = try TemporaryFolder()
        let commands = folder.path + "/commands"
        let changes = (0..<3000).map { "address \($0 % 2 == 0 ? "add" : "del") 10.1.2.3/32 dev lo" }
        try changes.joined(separator: "\n").write(toFile: commands, atomically: true, encoding: .utf8)
        let isFlooded = DispatchSemaphore(value: 0)
        let flood = try await withCheckedThrowingContinuation { continuation in
            loop.schedule {
                continuation.resume(with: Result { try Self.start("ip", "-batch", commands) })
                isFlooded.wait()
            }
        }
        let isDone = try await Self.succeeds(flood)
        isFlooded.signal()
        #expect(isDone)

        let script = """
            ip link add rx0 type veth peer name rx1 && ip addr add 10.9.8.7/24 dev rx0 \
            && ip link set rx1 up && ip link set rx0 up
            """
        #expect(try await Self.succeeds(onLoop(loop) { try Self.start("sh", "-c", script) }))
        #expect(try await reachability.statuses.filter(\.isReachable).value() == .wired)
        reachability.stop()
    }

    /// A monitor is closed when its loop ends.
    @Test func loopEnds() {
        let loop = EventLoop(name: "ends")
        let reachability = NetlinkReachability(on: loop)
        reachability.start()
        loop.shutDown()
        reachability.stop()
        reachability.start()
    }
}
#endif
