import HTTPTypes
import RxHTTP
import RxLite

/// Lets the client's ``RequestSigner`` sign the request, and sends it once more with a new signature if the signer asks
/// for that after the head of the response.
///
/// The repeated exchange begins as soon as the head has arrived. Body bytes that came together with that head are read,
/// so that the connection can be reused; the rest of the body is not awaited.
final class Signing: RequestStage, EventStage, EndStage {
    /// One exchange, with its first signature or with the second.
    final class Exchange: @unchecked Sendable {
        // Unchecked: used only inside the lane of its walk, which is serial.

        /// The index of the stage in the list.
        let stageIndex: Int
        /// The request without a signature.
        let request: Request
        let signer: any RequestSigner
        let context: SigningContext
        /// The request as it is sent.
        var signed: Request?
        /// Whether the response is dropped, and the exchange repeated.
        var isDropped = false
        /// The bytes of the dropped response that were read.
        var discarded = 0

        init(stageIndex: Int, request: Request, signer: any RequestSigner, context: SigningContext) {
            self.stageIndex = stageIndex
            self.request = request
            self.signer = signer
            self.context = context
        }
    }

    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step {
        let isRepeated = walk.memory.signing?.context.isRepeated ?? false
        walk.memory.signing = nil
        guard let signer = walk.signer(of: request) else { return .next }
        let transport = walk.call.client.transport
        let context = SigningContext(
            date: transport.scheduler.currentDate, scheduler: walk.call.scheduler, transport: transport,
            isRepeated: isRepeated)
        let exchange = Exchange(
            stageIndex: walk.stageIndex, request: request, signer: signer, context: context)
        if let signer = walk.call.client.pipeline.immediateSigner {
            var isSigned = false
            do throws(NetworkError) {
                try request.addSecrets { request throws(NetworkError) in
                    isSigned = try signer.signNow(&request, in: context)
                }
            } catch { throw error.attributed(to: exchange.request) }
            if isSigned {
                exchange.signed = request
                walk.memory.signing = exchange
                return .next
            }
        }
        walk.memory.signing = exchange
        return .wait(
            for: Observable { observer in
                let signed = SignedRequest(observer)
                signer.sign(exchange.request, in: context).subscribe(
                    Observer(
                        scope: signed.scope, next: { signed.receive($0, from: exchange.request, walk) },
                        end: { signed.end($0, of: exchange.request) }))
            })
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        guard let exchange = walk.memory.signing, case .transfer(let part) = event else { return true }
        guard !exchange.isDropped else {
            if case .chunk(let bytes) = part { discard(bytes.count, walk) }
            return false
        }
        guard case .head(let head) = part, let signed = exchange.signed else { return true }
        var context = exchange.context
        context.date = walk.call.client.transport.scheduler.currentDate
        // The signer is asked first: it gets each head, also of a repeated exchange.
        guard exchange.signer.receive(head, to: signed, in: context), !context.isRepeated,
            exchange.request.body.isReplayable, head.status != .switchingProtocols
        else { return true }
        // The head does not reach `CookieHandling`, which is further out.
        walk.context.storeCookies?(head)
        exchange.isDropped = true
        walk.afterArrivals { self.leave(walk) }
        return false
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        guard let exchange = walk.memory.signing else { return .end }
        guard exchange.isDropped else {
            // The first exchange was sent, so retries, failover and outbox must not take the request for unsent.
            if exchange.context.isRepeated, case .failed(var error) = completion {
                error.isUnsent = false
                completion = .failed(error)
            }
            walk.memory.signing = nil
            return .end
        }
        // The rest of the dropped body is not needed, even if it failed.
        walk.memory.signing = exchange.repeated
        return .restart(exchange.request)
    }

    func cancel(_ walk: Walk) { walk.memory.signing = nil }

    private func discard(_ count: Int, _ walk: Walk) {
        guard let exchange = walk.memory.signing else { return }
        exchange.discarded += count
        if exchange.discarded > ExchangeChain.discardLimit { leave(walk) }
    }

    /// Leaves the current exchange for the repeated one.
    private func leave(_ walk: Walk) {
        guard let exchange = walk.memory.signing, exchange.isDropped else { return }
        walk.leave(backTo: exchange.stageIndex)
        // Only now, because leaving cancels this stage too; `send` learns from it that it signs again.
        walk.memory.signing = exchange.repeated
        walk.descend(with: exchange.request, to: exchange.stageIndex)
    }
}

extension Signing.Exchange {
    /// The state before the repeated exchange.
    fileprivate var repeated: Signing.Exchange {
        var context = context
        context.isRepeated = true
        return Signing.Exchange(stageIndex: stageIndex, request: request, signer: signer, context: context)
    }
}

/// The wait for one signature.
private struct SignedRequest: Sendable {
    let scope: Scope
    private let observer: Observer<Request, NetworkError>

    init(_ observer: Observer<Request, NetworkError>) {
        self.observer = observer
        scope = observer.scope.child()
    }

    /// Passes the signed request on, with everything that the signer has added as a secret.
    func receive(_ signed: Request, from original: Request, _ walk: Walk) {
        scope.close()
        var request = original
        do throws(NetworkError) {
            try request.addSecrets { $0 = signed }
        } catch { return observer.fail(error) }
        walk.memory.signing?.signed = request
        observer.next(request)
    }

    func end(_ completion: Completion<NetworkError>, of request: Request) {
        scope.close()
        switch completion {
        case .finished:
            observer.fail(
                NetworkError(
                    .invalidConfiguration, "the signer finished without a request", request: request))
        case .failed(let error): observer.fail(error.attributed(to: request))
        }
    }
}

extension Walk {
    /// The signer of the request; `nil` for a request that goes without a signature.
    fileprivate func signer(of request: Request) -> (any RequestSigner)? {
        let prepared = call.prepared
        guard let signer = call.client.configuration.signer, prepared.options.isSigned != false else {
            return nil
        }
        if !request.isCredentialFree,
            let server = prepared.servers.server(of: request.urlText, context.server),
            prepared.servers.trusts(server.origin)
        {
            return signer
        }
        guard let origin = Origin(request.url) else { return nil }
        let isOwn = !request.isCredentialFree && prepared.servers.trusts(origin)
        return isOwn || signer.signsRequests(to: origin) ? signer : nil
    }
}
