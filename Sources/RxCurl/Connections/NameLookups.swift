import CLibcurl
import RxHTTP
import RxLoop

/// The name lookups of a multi handle: a bounded number is under way, one for each host, and other transfers
/// wait.
///
/// libcurl starts a thread with up to three descriptors for each lookup, and has no way to stop it: it ends
/// when the resolver answers, even if the request has ended long before. Therefore a handle whose request
/// ends stays in libcurl until its lookup has ended, and counts until then.
///
/// libcurl asks before each lookup (`CURLOPT_RESOLVER_START_FUNCTION`), so requests on pooled connections and
/// to cached names are not affected.
struct NameLookups {
    /// The reason why a transfer waits.
    enum Wait {
        /// The end of a lookup of its host.
        case host(String, WaitingList<Transfer>.Ticket)
        /// A free place for its own lookup.
        case slot(WaitingList<Transfer>.Ticket)
    }

    /// The lookups of one host under way, and the transfers that wait for one of them.
    private struct Host {
        var count = 0
        var waiting = WaitingList<Transfer>()
    }

    /// The maximum number of lookups under way.
    var limit: Int
    private var hosts: [String: Host] = [:]
    private var queue = WaitingList<Transfer>()
    /// The handles whose lookups are under way.
    private var handles: [ObjectIdentifier: EasyHandle] = [:]
    /// The handles in libcurl whose requests have ended.
    private var detached: [ObjectIdentifier: EasyHandle] = [:]
    /// Handles whose lookups over HTTPS libcurl has given up; never freed before the multi handle
    /// (``LibcurlFault/freesLookupsUnderWay``).
    private var kept: [EasyHandle] = []
    /// Whether ``Multi/startLookups()`` has been posted.
    var isStartPosted = false

    /// - Parameter loops: the number of loops among which the limit is divided; it is documented in Connections.md of
    ///   RxNetworking.
    init(loops: Int) { limit = max(1, 32 / loops) }

    /// The number of lookups under way.
    var count: Int { handles.count }
    /// The number of handles that libcurl has for requests that have ended.
    var detachedCount: Int { detached.count }

    // MARK: - Lookups

    /// Records that libcurl is about to look up a name; false if it must not.
    ///
    /// - Parameter joins: whether the transfer joins a lookup of the same host.
    mutating func begin(_ handle: EasyHandle, host: String, joins: Bool) -> Bool {
        guard count < limit, !joins || hosts[host] == nil else { return false }
        handle.lookup = host
        handles[ObjectIdentifier(handle)] = handle
        hosts[host, default: Host()].count += 1
        return true
    }

    /// Records that the lookup of a handle has ended; returns the transfers that waited for it.
    mutating func end(_ handle: EasyHandle) -> [Transfer] {
        guard let name = handle.lookup.take(), var host = hosts.removeValue(forKey: name) else { return [] }
        handles[ObjectIdentifier(handle)] = nil
        var waiting: [Transfer] = []
        while let transfer = host.waiting.popFirst() {
            transfer.attempts.lookupWait = nil
            waiting.append(transfer)
        }
        host.count -= 1
        if host.count > 0 { hosts[name] = host }
        return waiting
    }

    /// Keeps a handle as long as the multi handle.
    mutating func keep(_ handle: EasyHandle) { kept.append(handle) }

    /// Keeps a handle until libcurl has completed its transfer. The caller sets the limits of connections again.
    mutating func detach(_ handle: EasyHandle) { detached[ObjectIdentifier(handle)] = handle }

    /// Releases a handle; false if it was not detached. After `true`, the caller sets the limits of connections again.
    mutating func remove(_ handle: EasyHandle) -> Bool {
        detached.removeValue(forKey: ObjectIdentifier(handle)) != nil
    }

    /// Makes libcurl continue lookups beyond the limits of their requests, which the transport enforces.
    func liftLimits(at now: UInt64) {
        for handle in handles.values where now >= handle.connectDeadline { handle.liftConnectLimit() }
    }

    /// Forgets all lookups, and releases detached handles. Must be called after the multi handle was freed.
    mutating func removeAll() {
        for handle in handles.values { handle.lookup = nil }
        (handles, detached, hosts, kept) = ([:], [:], [:], [])
    }

    // MARK: - Waiting

    /// Lets a transfer wait for a lookup of its host, or for a free place.
    ///
    /// The queue must mirror the refusal in ``begin(_:host:joins:)``: for the lookup of its host if the transfer joins
    /// one, otherwise for a free place. By any other choice it would be tried and refused again and again.
    mutating func wait(_ transfer: Transfer, for name: String) {
        if transfer.attempts.joinsLookup, let ticket = hosts[name]?.waiting.append(transfer) {
            transfer.attempts.lookupWait = .host(name, ticket)
        } else {
            transfer.attempts.lookupWait = .slot(queue.append(transfer))
        }
    }

    /// Removes a transfer that no longer waits.
    mutating func withdraw(_ transfer: Transfer) {
        switch transfer.attempts.lookupWait.take() {
        case .host(let name, let ticket): _ = hosts[name]?.waiting.remove(ticket)
        case .slot(let ticket): _ = queue.remove(ticket)
        case nil: break
        }
    }

    /// Returns as many transfers of the queue as there are free places.
    mutating func popQueued() -> [Transfer] {
        var taken: [Transfer] = []
        while count + taken.count < limit, let transfer = queue.popFirst() {
            transfer.attempts.lookupWait = nil
            taken.append(transfer)
        }
        return taken
    }

    /// Whether transfers wait for a free place.
    var hasQueued: Bool { !queue.isEmpty }
}

extension Multi {
    /// Whether libcurl may look up a name for the transfer; if not, it completes the transfer with an error,
    /// and the transfer waits.
    func beginLookup(for transfer: Transfer) -> Bool {
        guard let handle = transfer.handle, !transfer.isOver else { return false }
        if handle.lookup != nil { return true }
        // libcurl asks for addresses, too, which need no lookup.
        if !settings.isProxyCertain, let host = Origin(transfer.request.url)?.host,
            HostText.isAddress(String(host.drop { $0 == "[" }.prefix { $0 != "]" }))
        {
            return true
        }
        let isBegun = lookups.begin(
            handle, host: lookupHost(of: transfer), joins: transfer.attempts.joinsLookup)
        transfer.attempts.isLookupRefused = !isBegun
        return isBegun
    }

    /// The host whose name libcurl looks up: the only proxy, or as far as the transport knows the host of the
    /// URL. libcurl caches names by port.
    private func lookupHost(of transfer: Transfer) -> String {
        if settings.isProxyCertain { return "proxy" }
        guard let origin = Origin(transfer.request.url) else { return transfer.target.text }
        return "\(origin.host):\(origin.port)"
    }

    /// Records that the lookup of a handle, if there is one, has ended.
    ///
    /// - Parameter failure: the error if the name has no address, which those who wait share.
    func endLookup(of handle: EasyHandle, _ failure: CurlError? = nil) {
        guard handle.lookup != nil else { return }
        perform(.endWait(lookups.end(handle), failure))
    }

    /// Lets a transfer wait whose lookup has been refused. It keeps its place at the origin and its limits.
    func waitForLookup(_ transfer: Transfer, _ handle: EasyHandle) {
        transfer.attempts.isLookupRefused = false
        transfer.attempts.wasPassedToCurl = true
        if let raw = unsafe raw { unsafe _ = curl_multi_remove_handle(raw, handle.raw) }
        lookups.wait(transfer, for: lookupHost(of: transfer))
        startLookupsLater()
    }

    /// Continues transfers after the lookup for which they have waited.
    func endWait(_ transfers: [Transfer], _ failure: CurlError?) {
        for transfer in transfers where !transfer.isOver {
            if let failure {
                let handle = transfer.handle
                // Before the release: ``Transfer/failure(_:)`` asks the handle.
                transfer.end(failure)
                if let handle { release(handle) }
            } else {
                // The name is cached now, unless names are not cached.
                transfer.attempts.joinsLookup = false
                proceed(transfer)
            }
        }
        startLookups()
    }

    /// Continues transfers that wait for a free place. Some may not need it, because their name has been
    /// cached meanwhile; therefore more of them follow after the loop's other work.
    private func startLookups() {
        for transfer in lookups.popQueued() { proceed(transfer) }
        startLookupsLater()
    }

    private func startLookupsLater() {
        guard !lookups.isStartPosted, lookups.hasQueued, lookups.count < lookups.limit else { return }
        lookups.isStartPosted = loop.post { [self] in
            lookups.isStartPosted = false
            perform(.endWait([], nil))
        }
    }

    /// Lets as many names be looked up at a time as ``NameLookups`` begins, each for both kinds of addresses
    /// (`CURLMOPT_RESOLVE_THREADS_MAX`), and keeps libcurl from waiting for those under way when it is closed
    /// (`CURLMOPT_QUICK_EXIT`). From 8.20 on, libcurl has a pool of 20 threads for lookups; before, it does not know
    /// these options and needs neither.
    func setLookups(_ raw: UnsafeMutableRawPointer) {
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMoption(rawValue: 20), 2 * lookups.limit)
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMoption(rawValue: 21), 1)
    }

    /// Leaves a handle whose transfer has ended to libcurl until its lookup has ended; false if there is no
    /// lookup.
    func detach(_ handle: EasyHandle) -> Bool {
        guard handle.lookup != nil, let raw = unsafe raw else { return false }
        handle.liftConnectLimit()
        lookups.detach(handle)
        running.remove(handle)
        limitKeptConnections()
        unsafe limitConnections(raw)
        return true
    }

    /// Releases a handle that was detached and that libcurl has completed; false for other handles.
    func removeDetached(_ handle: EasyHandle) -> Bool {
        guard lookups.remove(handle), let raw = unsafe raw else { return false }
        unsafe _ = curl_multi_remove_handle(raw, handle.raw)
        limitKeptConnections()
        unsafe limitConnections(raw)
        return true
    }
}
