internal import CLibcurl
internal import RxLoop

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

#if canImport(Glibc)
private let datagrams = Int32(SOCK_DGRAM.rawValue)
#else
private let datagrams = SOCK_DGRAM
#endif

let onOpenSocket: curl_opensocket_callback = { context, _, address in
    unsafe EasyHandle.endLookup(context)
    return unsafe EasyHandle.callback(context, else: -1) { transfer in
        guard let found = unsafe address, unsafe transfer.allows(found) else { return -1 }
        let address = unsafe found.pointee
        transfer.attempts.port = address.port
        if address.socktype == datagrams, !transfer.allowsDatagrams() { return -1 }
        #if canImport(Glibc)
        let kind = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
        #else
        let kind = address.socktype
        #endif
        let descriptor = socket(address.family, kind, address.protocol)
        if descriptor >= 0 {
            transfer.multi.sockets.open(descriptor, for: transfer)
            if transfer.multi.connections.isObserved { transfer.sockets.append(descriptor) }
        } else {
            transfer.attempts.shortage = Shortage.number(errno)
        }
        return descriptor
    }
}

extension curl_sockaddr {
    /// The port; `nil` for a Unix socket. In both families it is the second member, in network byte order.
    fileprivate var port: Int? {
        guard [AF_INET, AF_INET6].contains(family) else { return nil }
        return unsafe withUnsafeBytes(of: addr) {
            Int(unsafe UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}

let onCloseSocket: curl_closesocket_callback = { context, descriptor in
    unsafe Multi.callback(context, else: ()) { multi in
        multi.sockets.close(descriptor)
        multi.connections.close(descriptor)
    }
    return close(descriptor)
}

let onSocket: curl_socket_callback = { _, socket, what, context, _ in
    unsafe Multi.callback(context, else: -1) { multi in
        guard what != CURL_POLL_REMOVE else { return multi.sockets.watch(socket, for: nil) ? 0 : -1 }
        var events: Poll.Events = []
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        return multi.sockets.watch(socket, for: events) ? 0 : -1
    }
}

let onTimer: curl_multi_timer_callback = { _, milliseconds, context in
    unsafe Multi.callback(context, else: 0) { multi in
        multi.alarm.set(milliseconds: milliseconds)
        return 0
    }
}
