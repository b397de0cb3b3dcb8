internal import CLibcurl
internal import RxLoop

extension Multi {
    /// Throws where so many look-ups over HTTPS are under way, of requests that have ended, that no more may be begun.
    func checkLookups() throws(CurlError) {
        guard lookups.isFull else { return }
        throw CurlError(
            CURLE_COULDNT_RESOLVE_HOST,
            detail: "the DNS server has not answered \(lookups.count) requests that have ended")
    }

    /// Keeps a handle that is not used again if its name is being looked up.
    func keepLookup(of handle: EasyHandle) {
        guard settings.keepsLookups, handle.isLookingUp else { return }
        lookups.keep(handle, now: loop.nanoseconds)
    }

    /// Lets handles go whose look-ups are over.
    func removeLookups() { lookups.removeFinished(now: loop.nanoseconds) }
}
