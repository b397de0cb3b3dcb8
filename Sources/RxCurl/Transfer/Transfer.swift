import CLibcurl
import HTTPTypes
import RxHTTP
import RxLite
import RxLoop

/// One request that is being sent: performs on curl and on its observer the actions of ``TransferState``.
final class Transfer: @unchecked Sendable {
    // Unchecked, and without checks of exclusivity: created on the subscriber's thread, and touched only on
    // the loop once it has been posted there, after the end of the loop in the lane; nothing is called while
    // a variable is being changed.
    let request: Request
    let target: CheckedURL
    /// The easy handle of the transfer, from its addition to its removal.
    @safe @exclusivity(unchecked) var handle: EasyHandle?
    /// Keeps the transport alive as long as any of its transfers runs.
    private let transport: CurlTransport
    /// The multi handle of the transfer among those of the transport.
    let multi: Multi
    /// Counts the transfer on its loop if there are several loops. Released before the end is delivered,
    /// because the subscriber may send the next request immediately.
    @safe @exclusivity(unchecked) private var requestCount: LoopLoad.RequestCount?

    let observer: Observer<TransferEvent, NetworkError>
    @safe @exclusivity(unchecked) var state: TransferState
    /// Changed when curl passes bytes, and when they are delivered.
    @safe @exclusivity(unchecked) var response = ReceivedResponse()
    @safe @exclusivity(unchecked) var metrics = TransferMetrics()
    @safe @exclusivity(unchecked) var timing: TransferTiming
    let content: TransferContent
    @safe @exclusivity(unchecked) var upload: UploadProgress?
    /// The number of bytes that curl had counted as sent at the end, for ``uploadedBytes`` after the release
    /// of the handle.
    @safe @exclusivity(unchecked) private(set) var sentAtEnd = 0
    /// Changed before the transfer begins or starts over.
    @safe @exclusivity(unchecked) var expectation = Expectation()
    /// Changed only by the queue.
    @safe @exclusivity(unchecked) var queueState = QueueState()
    /// The sockets that curl has opened for the transfer, if connections are counted.
    @safe @exclusivity(unchecked) var sockets: [Int32] = []
    /// The connection of the transfer, if it is counted.
    @safe @exclusivity(unchecked) var connection: CountedConnection?
    /// Changed while curl connects.
    @safe @exclusivity(unchecked) var attempts = ConnectionAttempts()
    @safe @exclusivity(unchecked) private var isWatchingResume = false
    /// Set once there is a connection for a request that asks for another protocol.
    @safe @exclusivity(unchecked) var upgrade: UpgradeExchange?

    init(
        _ request: consuming Request, with content: consuming TransferContent,
        to target: consuming CheckedURL,
        for observer: consuming Observer<TransferEvent, NetworkError>, by transport: consuming CurlTransport,
        on multi: consuming Multi, counted requestCount: consuming LoopLoad.RequestCount?
    ) {
        let length = content.length
        timing = TransferTiming(request.timeouts)
        state = TransferState(of: request, on: multi)
        if length != 0 { upload = UploadProgress(total: length) }
        self.request = request
        self.content = content
        self.target = target
        self.observer = observer
        self.transport = transport
        self.multi = multi
        self.requestCount = requestCount
    }

    /// Whether nothing more is delivered.
    var isOver: Bool { state.isOver }

    // MARK: - Events from curl

    func willSend(to endpoints: ConnectionEndpoints) -> Bool {
        if let handle, handle.lookup != nil { multi.endLookup(of: handle) }
        attempts.isUnclean = isOnUncleanConnection
        if attempts.isUnclean { return false }
        guard allows(endpoints), beginSending() else { return false }
        multi.queue.settle(self)
        handle?.forgetFailedAttempts()
        metrics.remoteAddress = endpoints.address
        metrics.remotePort = endpoints.port
        metrics.localPort = endpoints.localPort
        if multi.connections.isInUse {
            connection = multi.connections.use(
                endpoints, after: connection, sockets: sockets, to: request)
        }
        response.forget()
        return true
    }

    /// Takes a header line, including its line end; false to abort.
    func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        let action: TransferState.HeadAction
        let isStatusLine = state.awaitsStatusLine
        if isStatusLine {
            if isStreamed, timing.respondedAt == nil { timing.respondedAt = multi.loop.now }
            response.status = unsafe multi.recent.statusLine.read(line)
            response.httpVersion = multi.recent.statusLine.version
            recordVersion()
            if !isMultiplexed || !hearsFrames { handle?.listen(false) }
            action = state.receiveStatusLine(
                status: response.status?.code, byteCount: line.count, asksFirst: asksFirst,
                sentBytes: uploadedBytes)
            response.beginHead()
        } else if unsafe Self.isEmptyLine(line) {
            let isPaused = observer.scope.isPaused
            if isPaused { watchResume() }
            action = state.receiveEndOfHead(byteCount: line.count, isPaused: isPaused)
            if state.hasHead, response.head == nil {
                response.makeHead()
                recordAlternatives()
                watchEnd()
                handleEarlyResponse()
            }
        } else {
            if unsafe ContentCoding.isNamed(in: line), !state.hasHead { response.hasCoding = true }
            action = state.receiveFieldLine(
                byteCount: line.count, keepsLengthCertain: unsafe response.length.admit(line))
        }
        switch action {
        case .skip: break
        case .keep: unsafe response.append(line)
        case .holdInterim: response.keepInterim()
        case .deliverInterim:
            response.keepInterim()
            while !response.interim.isEmpty { deliverInterim() }
        case .deliver: deliverHead()
        case .refuse:
            handle?.forbidReuse()
            return false
        }
        // After a field, or a final head without one.
        if let handle, handle.firstLine.isOn { handle.guardFirstLine(isStatusLine || state.awaitsStatusLine) }
        return true
    }

    /// Takes the completion of the handle by curl (`CURLMSG_DONE`), or by this side in place of curl. The handle is
    /// still present, and the results are read from it.
    ///
    /// This is not yet the end: the first checks run the transfer again or hand it on (lookup refused, unclean
    /// connection, upgrade, 417, refused stream). Only then does ``TransferState`` decide. A new reason to try again
    /// goes before that switch.
    func complete(_ handle: EasyHandle, _ result: CURLcode) {
        multi.loop.assertCurrent()
        if attempts.isLookupRefused, !isOver { return multi.waitForLookup(self, handle) }
        if attempts.isUnclean, !isOver { return multi.retryOnAnotherConnection(self, handle) }
        if request.asksForUpgrade, upgrade == nil, result == CURLE_OK, !isOver { return beginUpgrade(handle) }
        if state.refusal == .expectation, !isOver { return sendWithoutAsking(handle) }
        if isRefused(handle, result) { return sendAfterRefusals(handle) }
        let isPaused = observer.scope.isPaused
        if isPaused { watchResume() }
        // The response is complete, so it does not matter that the server did not take all of the request.
        let isReset = result == CURLE_HTTP2_STREAM && multi.features.has(.losesResponsesToResets)
        let isStopped = result == CURLE_SEND_ERROR || isReset
        if result == CURLE_OK, state.refusal == nil, isCutOff(handle) { state.refuse(.cutOff) }
        let succeeded = result == CURLE_OK || isStopped && isResponseComplete(handle)
        switch state.complete(succeeded: succeeded, isPaused: isPaused) {
        case .finish(let headFirst):
            takeMetrics(from: handle)
            requestCount = nil
            release(handle)
            if headFirst { deliverHead() }
            deliverUploadEnd()
            finish()
        case .wait:
            takeMetrics(from: handle)
            requestCount = nil
            release(handle)
            resume()
        case .fail:
            // Before the release: ``failure(_:)`` asks the handle, too.
            let cause = handle.error(result)
            recordHTTP3Fault(cause)
            let error = failure(cause)
            requestCount = nil
            release(handle)
            fail(error)
        case .nothing:
            release(handle)
        }
    }

    /// Takes the results of the transfer. Needs `requestCount`, which counts a new connection, and the handle: before
    /// both are released.
    private func takeMetrics(from handle: EasyHandle) {
        if isStreamed { sentAtEnd = handle.sentBytes }
        handle.complete(&metrics)
        metrics.httpVersion = response.httpVersion
        metrics.headBytesReceived = state.headBytes
        metrics.bodyBytesSent = Int(uploadedBytes)
        if let upgrade {
            metrics.bodyBytesReceived = upgrade.receivedBytes
        } else if !metrics.isConnectionReused, let socket = handle.socket {
            let isShared = isMultiplexed
            multi.sockets.keep(socket, isShared: isShared, as: requestCount?.connection(isShared: isShared))
        }
        timing.correct(&metrics)
    }

    /// Releases the handle before any event is delivered: a subscriber may need it for the next request.
    func release(_ handle: EasyHandle) {
        if state.isResent { handle.mustDiscard = true }
        multi.release(handle)
    }

    // MARK: - Events from the consumer

    /// Cancels the transfer. Safe to call from any thread.
    func cancel() {
        if multi.loop.ownsCurrentThread {
            if !isOver { multi.perform(.cancel(self)) }
        } else {
            // Nothing runs on a loop that has ended.
            _ = multi.loop.post { [multi] in multi.perform(.cancel(self)) }
        }
    }

    /// Ends without an event; false if it had already ended.
    func abort() -> Bool {
        requestCount = nil
        return state.abort()
    }

    /// Ends with an error that is not from curl.
    func end(_ code: NetworkError.Code, _ message: String) {
        guard abort() else { return }
        fail(error(code, message))
    }

    func end(_ error: NetworkError) {
        guard abort() else { return }
        var error = error.attributed(to: request)
        error.isUnsent = !state.isSent
        error.head = response.head
        fail(error)
    }

    func end(_ error: CurlError) {
        guard abort() else { return }
        fail(failure(error))
    }

    /// Continues after a pause.
    func resume() {
        multi.loop.assertCurrent()
        while let action = state.resume(isPaused: observer.scope.isPaused) {
            switch action {
            case .deliverInterim: deliverInterim()
            case .deliverHead: deliverHead()
            case .deliverBacklog: deliverBacklog()
            case .deliverDecoded:
                guard deliverDecoded() else { return endRefused() }
            case .deliverTrailers: deliverTrailers()
            case .unpause:
                timing.clock.restart(at: multi.loop.nanoseconds)
                if let handle { multi.unpause(handle) }
                return
            case .finish:
                deliverUploadEnd()
                finish()
            case .fail:
                if let refusal = state.refusal { fail(error(refusal.kind, refusal.message)) }
            }
        }
    }

    /// Registers for the consumer's resumption; once is enough for the whole transfer.
    func watchResume() {
        guard !isWatchingResume else { return }
        isWatchingResume = true
        observer.scope.lane.enter { [self] in
            let resumed: @Sendable () -> Void = { [self] in
                // Posted although this is the loop's thread already: inside the lane, another pause by the
                // consumer would take effect only after the lane has been left.
                let isPosted = multi.loop.post { [multi] in multi.perform(.resume(self)) }
                // A loop that has ended posts nothing; what waits is a response that was complete before.
                if !isPosted { resume() }
            }
            observer.scope.onResume(resumed)
            // The consumer may have resumed before this was registered.
            if !observer.scope.isPaused { resumed() }
        }
    }
}

extension Transfer {
    /// The result of receiving a piece of the body.
    enum Reception { case taken, kept, refused }

    /// Takes a piece of the body as received.
    func receiveChunk(_ bytes: UnsafeRawBufferPointer) -> Reception {
        guard unsafe !bytes.isEmpty else { return .taken }
        if let handle, handle.firstLine.isOn {
            let isAdmitted = unsafe handle.firstLine.admits(bytes, isStatusLine: state.awaitsStatusLine)
            return isAdmitted ? .taken : refuseChunk()
        }
        let isPaused = observer.scope.isPaused
        if isPaused { watchResume() }
        if response.hasCoding, !openDecoding() { return refuseChunk() }
        switch state.receiveChunk(count: bytes.count, isPaused: isPaused, canWait: { canWait }) {
        case .deliver(let headFirst):
            if headFirst { deliverHead() }
            if let decoding = response.decoding {
                guard unsafe decode(bytes, by: decoding) else { return refuseChunk() }
            } else {
                deliver(.chunk(unsafe Array(bytes)))
            }
            handleEarlyResponse()
            return .taken
        case .wait:
            if let handle { multi.running.markReceivePaused(handle) }
            return .kept
        case .appendToBacklog:
            response.backlog.append(unsafe Array(bytes))
            return .taken
        case .refuse: return refuseChunk()
        }
    }

    private func refuseChunk() -> Reception {
        handle?.forbidReuse()
        return .refused
    }
}

/// The end of a body without a length is what the server says it is. libcurl reports some bodies as complete though the
/// server did not say so.
extension Transfer {
    /// Begins to watch how the body ends, if that matters, once the head is complete. The responses without a body are
    /// those of ``isResponseComplete(_:)``.
    func watchEnd() {
        guard response.length.value == nil, !request.asksForUpgrade, request.method != .head,
            let handle, let head = response.head, head.status != .noContent, head.status != .notModified
        else { return }
        if response.httpVersion == .http2 {
            if multi.features.has(.endsHTTP2BodiesEarly) {
                attempts.sending.endWatch = .connection
                if handle.closesConnection { handle.permitReuse() }
            } else if multi.features.has(.trustsResetHTTP2Bodies) {
                attempts.sending.endWatch = .stream
                multi.beginEndWatch()
            }
        } else if !isMultiplexed, !target.isPlain, multi.features.has(.trustsCutTLSBodies),
            head.headerFields[.transferEncoding] == nil
        {
            attempts.sending.endWatch = .closeNotify
            handle.watchProgress()
        }
    }

    /// Ends the watch, if there is one.
    func stopEndWatch() {
        if case .stream = attempts.sending.endWatch { multi.endEndWatch() }
        attempts.sending.endWatch = .none
    }

    /// Records whether the server has ended TLS. curl reports progress for the last time while the connection is open.
    func recordCloseNotify() {
        guard case .closeNotify = attempts.sending.endWatch, let handle else { return }
        attempts.sending.hasCloseNotify = handle.hasCloseNotify
    }

    /// Whether the server broke off a body that libcurl reports as complete.
    func isCutOff(_ handle: EasyHandle) -> Bool {
        let sending = attempts.sending
        switch sending.endWatch {
        case .none: return false
        case .closeNotify: return !sending.hasCloseNotify
        case .stream: return sending.isResetWithoutError && !sending.hasEnded
        case .connection:
            let socket = handle.socket
            let isLast =
                !multi.settings.keepsConnections
                && !multi.running.transfers.contains { $0 !== self && $0.sharesConnection(with: self) }
            if handle.isOneUse || isLast, let socket { ConnectedSocket(descriptor: socket).retire() }
            // A connection that other transfers use stays open, and after GOAWAY it is closed in any case.
            return socket == nil && sending.isClosing && !sending.hasGoneAway
        }
    }
}

extension Multi {
    /// Records that a transfer watches the end of its stream: from now on libcurl's log of all HTTP/2 transfers is
    /// read, because curl reads the frames of a connection for any of them.
    func beginEndWatch() {
        endWatches += 1
        for transfer in running.transfers where transfer.isMultiplexed || !transfer.speaksHTTP1 {
            transfer.handle?.listen(true)
        }
    }

    func endEndWatch() { endWatches -= 1 }
}
