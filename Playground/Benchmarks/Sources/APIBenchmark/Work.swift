import Foundation
import RxNetworking
import Synchronization

/// A result that is not as expected.
struct Wrong: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Subscribes `count` times, at most `limit` at a time, and adds up the values.
func sum(_ stream: Observable<Int, NetworkError>, count: Int, limit: Int) throws -> Int {
    let end = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Int, NetworkError>>(.success(0))
    Observable<Int, NetworkError>.sequence(0..<count)
        .flatMap(.merge(limit: limit)) { _ in stream }
        .reduce(0, +)
        .subscribe(
            onNext: { sum in result.withLock { $0 = .success(sum) } },
            onEnd: { completion in
                if case .failed(let error) = completion { result.withLock { $0 = .failure(error) } }
                end.signal()
            })
    end.wait()
    return try result.withLock { $0 }.get()
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// Prints a value as one line of JSON.
func report(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    FileHandle.standardOutput.write(try encoder.encode(value) + Data("\n".utf8))
}
