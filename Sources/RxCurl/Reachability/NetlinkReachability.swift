// A release build sees the system's sockets through curl's headers.
internal import CLibcurl
public import RxHTTP
public import RxLite
public import RxLoop

#if canImport(Glibc)
    internal import Glibc
#endif

/// The network status of a Linux machine, or of the network namespace that the loop's thread is in.
///
/// ```swift
/// let reachability = NetlinkReachability()
/// reachability.start()
/// configuration.reachability = reachability
/// ```
///
/// If the socket's buffer overflows, the kernel drops messages; then the whole state is read again.
///
/// The kernel reports changes on a `NETLINK_ROUTE` socket (rtnetlink(7)); the current state is read from the
/// interfaces: one counts that is up and running, is no loopback, and has an address that is not only good for its own
/// link. Of several, hardware comes before virtual ones, and a cable before Wi-Fi before a mobile network. Where no
/// such socket is to be had, as on other systems, the status stays `unknown`.
///
/// Watching continues until ``stop()`` or the end of the loop, also after the last reference is released. Safe from any
/// thread.
public final class NetlinkReachability: Reachability, @unchecked Sendable {
    // Unchecked: `watch` is touched only on the loop, which is asserted.
    private let loop: EventLoop
    private let shown = State(NetworkStatus.unknown)
    private var watch: Watch?

    private struct Watch {
        let poll: Poll
        let descriptor: Int32
        let hook: any Cancellable
    }

    /// Creates one that has not been started.
    ///
    /// - Parameter loop: what it runs on. Default: the one of the process.
    public init(on loop: EventLoop = .shared) { self.loop = loop }

    /// The status at this moment; `unknown` until the loop has looked for the first time.
    public var status: NetworkStatus { shown.value }

    /// The status, then each other one that it changes to. Arrives on the loop.
    public var statuses: Observable<NetworkStatus, Never> { shown.observable.distinctUntilChanged() }

    /// Begins to watch.
    public func start() { _ = loop.post { self.startWatching() } }

    /// Watches no more.
    public func stop() {
        _ = loop.post {
            self.stopWatching()
            self.shown.value = .unknown
        }
    }

    #if canImport(Glibc)
        private func startWatching() {
            loop.assertCurrent()
            guard watch == nil, let descriptor = Self.openSocket() else { return }
            do throws(UVError) {
                let poll = try Poll(on: loop, descriptor: descriptor) { _, error in self.report(error) }
                // The hook closes the poll before the loop ends, and with it the cycle between poll and watcher.
                let hook = loop.onShutdown { self.stopWatching() }
                watch = Watch(poll: poll, descriptor: descriptor, hook: hook)
                poll.start(.readable)
            } catch {
                close(descriptor)
                return
            }
            look()
        }

        private func stopWatching() {
            loop.assertCurrent()
            guard let watch else { return }
            self.watch = nil
            watch.hook.cancel()
            watch.poll.close()
            close(watch.descriptor)
        }

        /// Takes what the kernel has sent, which only says that something is different, and looks at what there is.
        private func report(_ error: UVError?) {
            guard let watch else { return }
            let isWhole = Self.drain(watch.descriptor)
            // With an error of the socket libuv stops the poll. ENOBUFS, of messages that were lost, goes with being
            // read, and what is there is looked at as a whole anyway (netlink(7)).
            if isWhole, error != nil { watch.poll.start(.readable) }
            guard !isWhole else { return look() }
            stopWatching()
            startWatching()
        }

        private func look() { shown.value = NetworkInterface.all().status }

        /// Reads the socket empty; false if it is of no use any more.
        private static func drain(_ descriptor: Int32) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 8192)
            while true {
                if unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 { continue }
                switch errno {
                case EAGAIN: return true
                case ENOBUFS, EINTR: continue
                default: return false
                }
            }
        }

        private static func openSocket() -> Int32? {
            let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let descriptor = socket(AF_NETLINK, kind, RouteAddress.protocolNumber)
            guard descriptor >= 0 else { return nil }
            var address = RouteAddress()
            let status = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    unsafe bind(descriptor, pointer, socklen_t(MemoryLayout<RouteAddress>.size))
                }
            }
            guard status == 0 else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
    #else
        private func startWatching() {}
        private func stopWatching() {}
    #endif
}

#if canImport(Glibc)
    /// `struct sockaddr_nl` (linux/netlink.h), which Swift's Glibc does not have: three fields of a stable interface.
    private struct RouteAddress {
        /// `NETLINK_ROUTE`.
        static let protocolNumber: Int32 = 0

        var family = sa_family_t(AF_NETLINK)
        var padding: UInt16 = 0
        /// The kernel chooses.
        var port: UInt32 = 0
        /// `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR` and `RTMGRP_IPV6_IFADDR` (linux/rtnetlink.h).
        var groups: UInt32 = 0x1 | 0x10 | 0x100
    }
#endif
