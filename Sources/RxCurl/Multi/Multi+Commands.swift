internal import CLibcurl
internal import RxHTTP
internal import RxLoop
import Synchronization

extension Multi {
    /// Something to be done between two calls of curl.
    enum Command {
        case add(Transfer)
        case proceed(Transfer)
        case cancel(Transfer)
        case resume(Transfer)
        case timeOut(Transfer, NetworkError.Code)
        // Large, and rare.
        indirect case breakOff(Transfer, NetworkError)
        case feed(Transfer)
        case wrapUp(Transfer)
        case widenQueue
        case close
    }

    /// Does it now, or as soon as curl has returned. On the loop.
    func perform(_ command: Command) {
        loop.preconditionCurrent()
        sockets.unmute()
        commands.append(command)
        guard !isBusy else { return }
        settle()
        kickIfDue()
    }

    /// Applies commands and reads messages until there are none, or has the loop go on with that after its other work:
    /// transfers that fail at once and are sent again at once would hold it up for ever.
    func settle() {
        loop.assertCurrent()
        isBusy = true
        var count = 0
        let limit = isClosed.load(ordering: .relaxed) ? Self.lastBatchLimit : Self.batchLimit
        repeat {
            while count < limit, let command = nextCommand() {
                count += 1
                apply(command)
            }
            readMessages()
            while let transfer = queue.next() { begin(transfer) }
        } while count < limit && hasCommands
        isBusy = false
        if hasCommands { settleLater() }
    }

    /// How many commands are applied before the loop has its turn, and how many once the transport has been shut down,
    /// when a loop that ends waits for what is left.
    private static let batchLimit = 256
    private static let lastBatchLimit = 16

    private var hasCommands: Bool { !batch.isEmpty || !commands.isEmpty }

    /// The two arrays take turns, and commands are moved out of them: nothing is allocated or retained.
    private func nextCommand() -> Command? {
        if batch.isEmpty {
            swap(&commands, &batch)
            batch.reverse()
        }
        return batch.popLast()
    }

    private func settleLater() {
        guard !isSettlingLater else { return }
        isSettlingLater = loop.post { [self] in
            isSettlingLater = false
            guard !isBusy else { return }
            settle()
            kickIfDue()
        }
        // A loop that ends drops what begets more without end.
        if !isSettlingLater { (commands, batch) = ([], []) }
    }

    private func apply(_ command: Command) {
        switch command {
        case .add(let transfer): add(transfer)
        case .proceed(let transfer): proceed(transfer)
        case .cancel(let transfer):
            guard transfer.breakOff() else { return }
            queue.yield(transfer)
            drop(transfer)
        case .resume(let transfer): transfer.resume()
        case .timeOut(let transfer, let code):
            guard !transfer.isOver else { return }
            transfer.end(code, transfer.text(of: code))
            drop(transfer)
        case .breakOff(let transfer, let error):
            transfer.end(error)
            drop(transfer)
        case .feed(let transfer): feed(transfer)
        case .wrapUp(let transfer): transfer.wrapUp()
        case .widenQueue: queue.widen()
        case .close: close()
        }
    }
}
