internal import CLibcurl

/// Where an address of several refuses a connection, a libcurl with ``LibcurlFault/waitsAfterRefusals`` goes on to the
/// next one only when it is called again for that transfer, but watches no socket until then and asks for no timer before
/// half of the limit has passed (`is_connected`, 7.88).
extension Multi {
    /// Notes a socket on which a connection is begun.
    func noteConnecting(_ index: Int, _ transfer: Transfer) {
        guard features.has(.waitsAfterRefusals) else { return }
        sockets[index].connecting = transfer
        unwatched.append(index)
    }

    /// Notes that curl watches a socket no more.
    func noteUnwatched(_ index: Int) {
        if sockets[index].connecting != nil { unwatched.append(index) }
    }

    /// Notes that a socket is closed.
    func noteClosed(_ index: Int) {
        guard let transfer = sockets[index].connecting else { return }
        sockets[index].connecting = nil
        refused.append(transfer)
    }

    /// Has curl called again for transfers whose connection was refused. Each socket causes it once.
    func nudgeConnecting() {
        guard !unwatched.isEmpty || !refused.isEmpty else { return }
        for index in unwatched where index < sockets.count && sockets[index].wanted.isEmpty {
            noteClosed(index)
        }
        unwatched.removeAll(keepingCapacity: true)
        for transfer in refused where !transfer.isOver && !transfer.state.isSent {
            guard let handle = transfer.handle else { continue }
            // A change of the pause makes the transfer due at once (`curl_easy_pause`); before the request is sent
            // there is nothing that could pause.
            unsafe _ = curl_easy_pause(handle.raw, CURLPAUSE_RECV)
            unsafe _ = curl_easy_pause(handle.raw, CURLPAUSE_CONT)
        }
        refused.removeAll(keepingCapacity: true)
    }
}
