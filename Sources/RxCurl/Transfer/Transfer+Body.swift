internal import CLibcurl
internal import RxHTTP
internal import RxLite

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
            noteEarlyResponse()
            return .taken
        case .wait:
            if let handle { multi.running.hold(handle) }
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
