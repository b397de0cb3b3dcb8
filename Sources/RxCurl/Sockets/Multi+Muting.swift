internal import RxHTTP
internal import RxLoop

/// A libcurl with ``LibcurlFault/spinsOnHTTP2Uploads`` asks for a writable socket as long as an HTTP/2 upload is not
/// done, though the server's window is used up and there is nothing it may write. A socket is nearly always writable, so
/// that the loop would spin.
extension Multi {
    /// How many times in a row there may be nothing to write: more than it takes to send what curl holds already,
    /// 64 KiB, when a socket has room for a few KiB at a time.
    private static var patience: Int { 32 }

    /// Notes that a socket was writable and nothing else.
    ///
    /// - Parameter isIdle: whether curl asked for no content to write.
    func noteWrite(_ index: Int, isIdle: Bool) {
        guard features.has(.spinsOnHTTP2Uploads), index < sockets.count,
            sockets[index].started.contains(.writable)
        else { return }
        sockets[index].idleWrites = isIdle ? sockets[index].idleWrites + 1 : 0
        if sockets[index].idleWrites >= Self.patience { mute(index) }
    }

    /// Asks no more whether the socket is writable until something else happens: something comes, which may open
    /// the window, there is new content, another transfer, or the time of one has come.
    private func mute(_ index: Int) {
        muted.append(index)
        let events = sockets[index].wanted.subtracting(.writable)
        sockets[index].idleWrites = 0
        if events.isEmpty {
            sockets[index].poll?.stop()
            sockets[index].started = []
            wrapUpUploads()
        } else {
            _ = start(index, events)
        }
    }

    /// Where curl has all of an HTTP/2 response it reads no more, so that it would not hear of a window that opens,
    /// nor that the server wants no more of the request (RFC 9113 §8.1): the response ends that.
    private func wrapUpUploads() {
        let multiplexed = running.compactMap(\.transfer).filter { $0.isMultiplexed }
        for transfer in multiplexed {
            if let handle = transfer.handle, transfer.isResponseComplete(handle) {
                perform(.wrapUp(transfer))
            }
        }
    }

    /// Watches the muted sockets again for what curl wants of them.
    func unmute() {
        guard !muted.isEmpty else { return }
        let indices = muted
        muted.removeAll(keepingCapacity: true)
        for index in indices where index < sockets.count && !sockets[index].wanted.isEmpty {
            _ = start(index, sockets[index].wanted)
        }
    }
}
