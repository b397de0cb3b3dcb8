import Foundation
import RxNetworking
import Synchronization

do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    guard let url = URL(string: arguments.url) else {
        throw Arguments.Invalid(description: "\(arguments.url) is no URL")
    }
    let request = Request(url: url)
    let transport = CurlTransport.shared
    let start = ContinuousClock.now
    let received = Atomic<Int>(0)
    let end = DispatchSemaphore(value: 0)
    let failure = Mutex<NetworkError?>(nil)
    Observable<Int, NetworkError>.sequence(0..<arguments.count)
        .flatMap(.merge(limit: arguments.inFlight)) { _ in
            transport.send(request).response(to: request)
        }
        .subscribe(
            onNext: { received.add($0.body.count, ordering: .relaxed) },
            onEnd: { completion in
                if case .failed(let error) = completion { failure.withLock { $0 = error } }
                end.signal()
            })
    end.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let usage = Usage()
    print(
        """
        {"client":"swift","requests":\(arguments.count),"in_flight":\(arguments.inFlight),\
        "seconds":\(seconds),"requests_per_second":\(Double(arguments.count) / seconds),\
        "body_bytes":\(received.load(ordering: .relaxed)),"cpu_seconds":\(usage.cpuSeconds),"max_rss":\(usage.maxResidentSize)}
        """)
} catch {
    print("{\"client\":\"swift\",\"error\":\"\(error)\"}")
    exit(2)
}
