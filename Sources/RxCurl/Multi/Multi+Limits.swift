internal import RxHTTP
internal import RxLoop

extension Multi {
    /// Looks whether a limit of the transfer has passed, and when to look next.
    ///
    /// A loop that was held up finds its timers due before it has read what came meanwhile. So a transfer is ended
    /// only by a second look, once the sockets have had their turn.
    func look(at transfer: Transfer, isSecond: Bool) {
        guard !transfer.isOver, let handle = transfer.handle else { return }
        switch transfer.look() {
        case .unlimited: break
        case .wait(let time): handle.limits?.start(at: time)
        case .passed(let code) where isSecond: perform(.timeOut(transfer, code))
        case .passed:
            overdue.append(transfer)
            secondLook?.request()
        }
    }

    func lookAgain() {
        let transfers = overdue
        overdue = []
        for transfer in transfers { look(at: transfer, isSecond: true) }
    }
}
