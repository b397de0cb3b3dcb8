internal import CLibcurl
internal import RxHTTP
internal import RxLoop
import Synchronization

extension Multi {
    /// An action to perform between two calls of curl.
    enum Command {
        case add(Transfer)
        case proceed(Transfer)
        case cancel(Transfer)
        case resume(Transfer)
        case timeOut(Transfer, NetworkError.Code)
        // Large and rare.
        indirect case breakOff(Transfer, NetworkError)
        case feed(Transfer)
        case wrapUp(Transfer)
        case widenQueue
        // Large and rare.
        indirect case endWait([Transfer], CurlError?)
        case close
    }

    /// Performs a command now, or as soon as curl has returned. Must be called on the loop.
    func perform(_ command: Command) {
        loop.preconditionCurrent()
        sockets.unmute()
        commands.append(command)
        guard !commands.isBusy else { return }
        settle()
        alarm.ringIfDue()
    }

    /// Applies commands and reads messages until there are none, or continues after the loop's other work:
    /// transfers that fail immediately and are sent again immediately would otherwise block the loop forever.
    func settle() {
        loop.assertCurrent()
        commands.begin()
        var count = 0
        let limit = isClosed.load(ordering: .relaxed) ? Self.lastBatchLimit : Self.batchLimit
        repeat {
            while count < limit, let command = commands.next() {
                count += 1
                apply(command)
            }
            readMessages()
            while let transfer = queue.next() { begin(transfer) }
        } while count < limit && !commands.isEmpty
        commands.end()
        if !commands.isEmpty { settleLater() }
    }

    /// The number of commands that are applied before the loop continues with other work: normally, and once
    /// the transport has been shut down, when a loop that ends waits for the rest.
    private static let batchLimit = 256
    private static let lastBatchLimit = 16

    private func settleLater() {
        guard !commands.isPostponed else { return }
        let isPosted = loop.post { [self] in
            commands.resume()
            guard !commands.isBusy else { return }
            settle()
            alarm.ringIfDue()
        }
        // A loop that ends drops commands that would create new ones without end.
        if isPosted { commands.postpone() } else { commands.removeAll() }
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
            if case .line = transfer.attempts.lookupPlace, code == .connectTimeout {
                // Nothing has been asked about the host.
                transfer.end(
                    .resources, "the resolver does not answer: \(lookups.count) name lookups are under way")
            } else {
                transfer.end(code, transfer.text(of: code))
            }
            drop(transfer)
        case .breakOff(let transfer, let error):
            transfer.end(error)
            drop(transfer)
        case .feed(let transfer): feed(transfer)
        case .wrapUp(let transfer): transfer.wrapUp()
        case .widenQueue: queue.widen()
        case .endWait(let transfers, let failure): endWait(transfers, failure)
        case .close: close()
        }
    }
}
