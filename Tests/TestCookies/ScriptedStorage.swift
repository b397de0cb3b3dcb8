package import RxCookies
package import RxHTTP
package import RxLite
package import Synchronization

/// A storage that counts its calls, and fails on demand.
package final class ScriptedStorage: Sendable {
    package struct Contents {
        package var bytes: [UInt8]?
        package var loads = 0
        package var saves = 0
        package var loadErrors: [NetworkError] = []
        package var saveErrors: [NetworkError] = []
        /// The gate that loads and saves wait for, if any.
        package var gate: Observable<Void, Never>?
    }

    package let contents: Mutex<Contents>

    package init(_ bytes: [UInt8]? = nil) { contents = Mutex(Contents(bytes: bytes)) }

    package var text: String { contents.withLock { String(decoding: $0.bytes ?? [], as: UTF8.self) } }
    package var loads: Int { contents.withLock { $0.loads } }
    package var saves: Int { contents.withLock { $0.saves } }

    package var storage: CookieStorage {
        CookieStorage(load: waiting { .deferred { () throws(NetworkError) in .just(try self.load()) } }) {
            bytes in
            self.waiting { .deferred { () throws(NetworkError) in .just(try self.save(bytes)) } }
        }
    }

    private func waiting<T>(
        then operation: @escaping @Sendable () -> Observable<T, NetworkError>
    ) -> Observable<T, NetworkError> {
        Observable.deferred { () throws(NetworkError) in
            let gate = self.contents.withLock { $0.gate } ?? .just(())
            return gate.take(1).setFailureType(to: NetworkError.self).flatMap(.concat) { operation() }
        }
    }

    private func load() throws(NetworkError) -> [UInt8]? {
        let (bytes, error) = contents.withLock { contents in
            contents.loads += 1
            return (contents.bytes, contents.loadErrors.isEmpty ? nil : contents.loadErrors.removeFirst())
        }
        if let error { throw error }
        return bytes
    }

    private func save(_ bytes: [UInt8]) throws(NetworkError) {
        let error = contents.withLock { contents -> NetworkError? in
            contents.saves += 1
            guard contents.saveErrors.isEmpty else { return contents.saveErrors.removeFirst() }
            contents.bytes = bytes
            return nil
        }
        if let error { throw error }
    }
}
