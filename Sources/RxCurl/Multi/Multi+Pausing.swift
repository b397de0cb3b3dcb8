internal import CLibcurl

extension Multi {
    /// Makes curl resume a paused transfer. curl may deliver bytes before this returns.
    func unpause(_ handle: EasyHandle) {
        running.release(handle)
        if let upgrade = handle.transfer?.upgrade { return upgrade.resume() }
        updatePause(of: handle)
    }

    /// Makes curl ask for content again, after there was none when it asked.
    func feed(_ transfer: Transfer) {
        if let handle = transfer.handle { updatePause(of: handle) }
    }

    /// Tells curl which of the two directions are still paused (`curl_easy_pause`).
    private func updatePause(of handle: EasyHandle) {
        let receiving = handle.isHeld ? CURLPAUSE_RECV : 0
        let sending = handle.transfer?.content.source?.isStarved == true ? CURLPAUSE_SEND : 0
        let code = unsafe curl_easy_pause(handle.raw, receiving | sending)
        // An error comes from bytes that curl had kept and could not deliver; it ends the transfer in the
        // same way. A bad argument means that curl has completed the transfer, and its message will be read
        // later.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        // curl has not completed the transfer, so it is removed while it runs.
        handle.isSpent = true
        if let transfer = handle.transfer { transfer.complete(handle, code) }
    }
}
