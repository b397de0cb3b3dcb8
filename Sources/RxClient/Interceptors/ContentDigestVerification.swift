import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// The interceptor ``Interceptor/contentDigestVerification(isRequired:)``.
struct ContentDigestVerification: Interceptor {
    let isRequired: Bool

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard request.method != .head else { return next(request) }
        var asking = request
        asking.headerFields[.wantContentDigest] = "sha-256=10, sha-512=5"
        asking.headerFields[.wantReprDigest] = "sha-256=10, sha-512=5"
        asking.headerFields[.acceptEncoding] = "identity"
        let body = BodyVerification(of: request, isRequired: isRequired)
        return next(asking).map { event throws(NetworkError) in
            if case .transfer(let transfer) = event { try body.take(transfer) }
            return event
        }
    }
}

extension HTTPField.Name {
    fileprivate static let wantContentDigest = HTTPField.Name("Want-Content-Digest")!
    fileprivate static let wantReprDigest = HTTPField.Name("Want-Repr-Digest")!
}

/// The verification of one body in transfer against its digests.
final class BodyVerification: Sendable {
    private struct Digest: Sendable {
        let name: String
        let expected: [UInt8]
        var running: SHA2
    }

    private struct State: Sendable {
        var head: ResponseHead?
        var digests: [Digest] = []
    }

    private let request: Request
    private let isRequired: Bool
    private let state = Mutex(State())

    init(of request: Request, isRequired: Bool) {
        self.request = request
        self.isRequired = isRequired
    }

    /// - Throws: `digestMismatch`, at the end of the body at the latest.
    func take(_ event: TransferEvent) throws(NetworkError) {
        let failure: String? = state.withLock { state in
            switch event {
            case .head(let head):
                state.head = head
                state.digests = Self.digests(of: head)
                let isUnverified =
                    isRequired && head.status.kind == .successful && head.hasBody && state.digests.isEmpty
                return isUnverified ? "the response has no digest of its body" : nil
            case .chunk(let bytes):
                for index in state.digests.indices { state.digests[index].running.update(bytes) }
            case .finished where state.head?.hasBody == true:
                let wrong = state.digests.first { $0.running.finish() != $0.expected }
                return wrong.map { "the body does not match the digest in \($0.name)" }
            default: break
            }
            return nil
        }
        guard let failure else { return }
        var error = NetworkError(.digestMismatch, failure, request: request)
        error.head = state.withLock { $0.head }
        throw error
    }

    private static func digests(of head: ResponseHead) -> [Digest] {
        guard !head.isCoded else { return [] }
        let names = head.status == .partialContent ? ["Content-Digest"] : ["Content-Digest", "Repr-Digest"]
        return names.flatMap { name -> [Digest] in
            guard let field = HTTPField.Name(name), let value = head[field] else { return [] }
            let digests = DigestField.digests(in: value)
            return [("sha-256", SHA2.sha256), ("sha-512", SHA2.sha512)].compactMap { algorithm, running in
                digests[algorithm].map {
                    Digest(name: "\(name), \(algorithm)", expected: $0, running: running)
                }
            }
        }
    }
}

extension ResponseHead {
    /// Whether a body with content follows, of a success or an error.
    fileprivate var hasBody: Bool {
        ![.noContent, .resetContent, .notModified].contains(status) && status.kind != .redirection
    }
}
