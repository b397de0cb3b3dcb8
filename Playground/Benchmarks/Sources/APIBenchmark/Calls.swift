import Dispatch
import Foundation
import RxNetworking

/// Sends requests one after the other, from the transport's loop, for a profiler that counts the calls of functions.
///
/// A request goes down within ``subscribeOnLoop(to:onEnd:)``, whose name the profiler knows: the stream's scheduler is the
/// loop's, so nothing waits between the subscription and libcurl.
struct Calls {
    let way: Way
    let baseURL: String
    let count: Int

    func run() async throws {
        let loop = EventLoop.shared
        let stream = try await way.items(of: baseURL, over: CurlTransport(loop: loop))
        for _ in 0..<count {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                loop.schedule {
                    subscribeOnLoop(to: stream) { completion in
                        switch completion {
                        case .finished: continuation.resume()
                        case .failed(let error): continuation.resume(throwing: error)
                        }
                    }
                }
            }
        }
    }
}

@inline(never) private func subscribeOnLoop(
    to stream: Observable<Int, NetworkError>, onEnd: @escaping @Sendable (Completion<NetworkError>) -> Void
) {
    stream.subscribe(onNext: { _ in }, onEnd: onEnd)
}
