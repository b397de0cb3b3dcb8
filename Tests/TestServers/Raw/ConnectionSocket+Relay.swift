#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension ConnectionSocket {
    /// Forwards bytes in both directions until `limit` bytes have come from the port; throws at the end of
    /// either side.
    ///
    /// - Parameter delay: the delay of each piece from the port, in milliseconds.
    func relay(
        to port: UInt16, bytes limit: Int, delay: Int, progress: (Int) -> Void
    ) throws(RawServer.End) {
        let upstream: Descriptor
        do { upstream = try Descriptor.connected(to: port) } catch { throw .script }
        var left = limit
        while left > 0 {
            var polls = [stop.descriptor, descriptor.raw, upstream.raw].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            while unsafe poll(&polls, nfds_t(polls.count), -1) < 0 {
                guard errno == EINTR else { throw .stopped }
            }
            if polls[0].revents != 0 { throw .stopped }
            if polls[1].revents != 0 {
                let bytes = try receive()
                guard Self.write(bytes, to: upstream.raw) else { throw .script }
            }
            if polls[2].revents != 0 {
                let bytes = Self.read(min(left, 16_384), from: upstream.raw)
                guard !bytes.isEmpty else { throw .script }
                guard unsafe poll(&polls, 1, CInt(delay)) <= 0 else { throw .stopped }
                try send(bytes, stalled: {}, progress: progress)
                left -= bytes.count
            }
        }
    }

    /// Reads up to `count` bytes; empty at the end, and if the socket is broken.
    private static func read(_ count: Int, from raw: CInt) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, unsafe recv(raw, buffer.baseAddress, count, 0))
        }
    }

    /// Writes all bytes, because the socket blocks; false if it is broken.
    private static func write(_ bytes: [UInt8], to raw: CInt) -> Bool {
        #if canImport(Glibc)
        let flags = CInt(MSG_NOSIGNAL)
        #else
        let flags: CInt = 0
        #endif
        return unsafe bytes.withUnsafeBytes { buffer in
            unsafe systemSend(raw, buffer.baseAddress, buffer.count, flags) == buffer.count
        }
    }
}
