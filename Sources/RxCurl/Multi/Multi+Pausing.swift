internal import CLibcurl

extension Multi {
    /// Lets curl go on with a transfer that it was told to pause. It may deliver before this returns.
    func unpause(_ handle: EasyHandle) {
        running.letGo(handle)
        goOn(handle)
    }

    /// Lets curl ask again for content, of which there was none when it asked.
    func feed(_ transfer: Transfer) {
        if let handle = transfer.handle { goOn(handle) }
    }

    /// Tells curl which of the two directions wait still (`curl_easy_pause`).
    private func goOn(_ handle: EasyHandle) {
        let receiving = handle.isHeld ? CURLPAUSE_RECV : 0
        let sending = handle.transfer?.content.source?.isStarved == true ? CURLPAUSE_SEND : 0
        let code = unsafe curl_easy_pause(handle.raw, receiving | sending)
        // What fails here is what curl had kept and could not hand over; it ends the transfer the same way. Of a
        // transfer that curl is done with, which it calls a bad argument, the message is still to be read.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        // curl is not done with the transfer, which is taken out in the middle.
        handle.isSpent = true
        if let transfer = handle.transfer { transfer.complete(handle, code) }
    }
}
