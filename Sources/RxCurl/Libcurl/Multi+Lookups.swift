internal import CLibcurl
internal import RxLoop

extension Multi {
    /// Throws if the limit of running lookups over HTTPS for requests that have ended is reached.
    func checkLookups() throws(CurlError) {
        guard lookups.isFull else { return }
        throw CurlError(
            CURLE_COULDNT_RESOLVE_HOST,
            detail: "\(lookups.count) DNS queries of ended requests are still unanswered")
    }

    /// Keeps a handle that is not used again if a lookup of its name is running.
    func keepLookup(of handle: EasyHandle) {
        guard settings.keepsLookups, handle.isLookingUp else { return }
        lookups.keep(handle, now: loop.nanoseconds)
    }

    /// Releases handles whose lookups have ended.
    func removeLookups() { lookups.removeFinished(now: loop.nanoseconds) }
}
