import Dispatch
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Threads that send requests, each with a few under way at a time, and count the results.
final class SubscriberCrowd: Sendable {
    private struct Tally {
        var answers = 0
        var secondRefusals = 0
        var otherFailures: [String] = []
    }

    private let clients: [Client]
    private let store: RecordingStore
    private let tally = Mutex(Tally())

    init(clients: [Client], store: RecordingStore) {
        self.clients = clients
        self.store = store
    }

    var answers: Int { tally.withLock { $0.answers } }
    var secondRefusals: Int { tally.withLock { $0.secondRefusals } }
    var otherFailures: [String] { tally.withLock { $0.otherFailures } }

    /// Returns when every request has a response, or a failure other than the server's refusals.
    func run(threads: Int, requests: Int, window: Int) async {
        await withCheckedContinuation { done in
            do {
                let running = try (0..<threads).map { thread in
                    try JoinableThread {
                        self.send((0..<requests / threads).map { "/\(thread)/\($0)" }, by: thread, window)
                    }
                }
                // Joining blocks, which a thread of the concurrency pool must not do.
                _ = try JoinableThread {
                    for thread in running { thread.join() }
                    done.resume()
                }
            } catch {
                Issue.record("\(error)")
                done.resume()
            }
        }
    }

    private func send(_ paths: [String], by thread: Int, _ window: Int) {
        let room = DispatchSemaphore(value: window)
        for path in paths {
            room.wait()
            send(path, by: clients[thread % clients.count]) { room.signal() }
        }
        for _ in 0..<window { room.wait() }
        // A semaphore must not be destroyed with a lower value than it was created with.
        for _ in 0..<window { room.signal() }
    }

    private func send(_ path: String, by client: Client, then end: @escaping @Sendable () -> Void) {
        let known = store.latest?.token ?? ""
        client.get(path, headers: ["X-Known": known]).decode(String.self).subscribe(
            onNext: { answer in
                self.tally.withLock { tally in
                    if answer == path { tally.answers += 1 } else { tally.otherFailures.append(answer) }
                }
            },
            onFailure: { error in
                guard error.status == .unauthorized else {
                    self.tally.withLock { $0.otherFailures.append("\(error)") }
                    return end()
                }
                self.tally.withLock { $0.secondRefusals += 1 }
                self.send(path, by: client, then: end)
            },
            onFinish: end)
    }
}
