internal import RxLoop

/// Transfers of which a limit seems to have passed.
///
/// A loop that was held up finds its timers due before it has read what came meanwhile. So they get a second look, once
/// the sockets have had their turn.
struct OverdueTransfers {
    private var transfers: [Transfer] = []
    private var secondLook: Immediate?

    /// Has `look` called when it is time for the second look.
    mutating func open(on loop: EventLoop, look: @escaping () -> Void) throws(UVError) {
        secondLook = try Immediate(on: loop, perform: look)
    }

    mutating func append(_ transfer: Transfer) {
        transfers.append(transfer)
        secondLook?.request()
    }

    /// All of them, of which none is left.
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
