internal import CLibcurl
internal import RxHTTP
internal import RxLoop

extension Transfer {
    /// Takes over the connection that curl has made.
    func beginUpgrade(_ handle: EasyHandle) {
        guard !isOver, let socket = handle.socket else {
            return end(.connectionLost, "the connection broke before the request was sent")
        }
        // curl no longer waits for the socket, and its poll must not be a second one on it.
        multi.sockets.close(socket)
        // The connection is not one of those that requests wait for.
        multi.queue.leave(self)
        multi.noteUpgraded(1)
        let connection = ConnectionBytes(
            handle: handle, descriptor: socket, isPlain: target.isPlain && multi.settings.isDirect)
        let upgrade = UpgradeExchange(self, on: connection)
        self.upgrade = upgrade
        do throws(NetworkError) {
            let list = try multi.recent.headers.list(for: self)
            // Only the connection is curl's, and it may stay open for long.
            handle.forgetHeaders()
            do throws(UVError) {
                try upgrade.start(RequestHeadBytes.bytes(of: request, to: target, list))
            } catch {
                let shortage = Shortage.number(-error.rawValue)
                var failure = NetworkError(
                    shortage == nil ? .connect : .resources, "the socket cannot be watched: \(error)")
                failure.systemError = Int(-error.rawValue)
                throw failure
            }
        } catch {
            multi.perform(.breakOff(self, error))
        }
    }
}

extension Multi {
    /// Notes that a connection has been taken over, or given back: curl must not count it among those that
    /// it limits.
    func noteUpgraded(_ change: Int) {
        upgrades.count += change
        if let raw = unsafe raw { unsafe setLimits(raw) }
    }
}
