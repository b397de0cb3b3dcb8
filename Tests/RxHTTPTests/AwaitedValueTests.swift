import RxHTTP
import RxLite
import Testing

/// `value()` of streams that fail with `NetworkError` throws no other type.
@Suite struct AwaitedValueTests {
    /// The code of the error that `value()` throws, with its static type.
    private func code(of stream: Observable<Int, NetworkError>) async -> NetworkError.Code? {
        do {
            _ = try await stream.value()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func everyErrorIsANetworkError() async {
        #expect(await code(of: .just(1)) == nil)
        #expect(await code(of: .fail(NetworkError(.resolve, "no such host"))) == .resolve)
        #expect(await code(of: .empty()) == .noValue)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await code(of: .just(1))
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func aCancelledLoopThrowsIt() async {
        let task = Task { () async -> NetworkError.Code? in
            do throws(NetworkError) {
                for try await _ in Observable<Int, NetworkError>.never() {}
                return nil
            } catch {
                return error.code
            }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
    }

    @Test func aCodePrintsItsName() {
        #expect("\(NetworkError.Code.connectTimeout)" == "connectTimeout")
        #expect("\(NetworkError.Code(rawValue: "soldOut"))" == "soldOut")
    }
}
