internal import RxLoop

/// Transfers of which a limit seems to have passed.
///
/// After a loop was blocked, its timers are due before it has read the bytes that have arrived meanwhile.
/// Therefore these transfers get a second check after the sockets have been read.
struct OverdueTransfers {
    private var transfers: [Transfer] = []
    private var secondLook: Immediate?

    /// Sets the closure to call for the second check.
    mutating func open(on loop: EventLoop, look: @escaping () -> Void) throws(UVError) {
        secondLook = try Immediate(on: loop, perform: look)
    }

    mutating func append(_ transfer: Transfer) {
        transfers.append(transfer)
        secondLook?.request()
    }

    /// Returns and removes all transfers.
    mutating func takeAll() -> [Transfer] {
        defer { transfers = [] }
        return transfers
    }

    mutating func close() {
        secondLook?.close()
        secondLook = nil
        transfers = []
    }
}
