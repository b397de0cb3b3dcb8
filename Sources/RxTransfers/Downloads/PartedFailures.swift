import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// The answers of a download in parts to the failures of its requests.
extension PartedRun {
    func fail(_ part: Int, _ error: NetworkError) {
        observer.scope.lane.assertInside()
        switch error.code {
        case .contentChanged: startOver(error)
        case .rangesRefused: unsplit(error)
        default:
            if error.isRecoverable {
                retry(part, error)
            } else if error.isFinal || error.code != .status && error.code != .invalidResponse {
                end(.failed(error))
            } else if (plan?.parts.count ?? 0) > 1, maySplit {
                unsplit(error)
            } else if plan?.parts.isEmpty == false, !isWhole {
                // A request without a range shows whether the ranges were the reason.
                (isWhole, maySplit, highestWritten) = (true, false, 0)
                emit(.startedOver)
                requestWhole()
            } else {
                end(.failed(error))
            }
        }
    }

    func retry(_ part: Int, _ error: NetworkError) {
        var history = retries[part] ?? RetryHistory(clock: clock)
        let delay = history.countRetry(
            by: options.backoff, RandomSource.fraction,
            atLeast: error.retryAfter(now: clock.currentDate) ?? .zero)
        retries[part] = history
        guard history.count <= options.retries else { return end(.failed(error)) }
        emit(.paused(error, for: delay))
        guard observer.scope.isOpen else { return }
        let scope = observer.scope.child()
        running[part] = scope
        OperatorTimer(clock, in: scope).set(after: delay) {
            scope.close()
            self.running[part] = nil
            // Without a validator only the whole can be requested again.
            if self.plan?.record == nil { self.requestWhole() } else { self.request(part) }
        }
    }

    /// Requests all that is missing behind the first part at once. The others stay on the disk until a response brings it.
    private func unsplit(_ error: NetworkError) {
        guard maySplit, plan != nil else { return end(.failed(error)) }
        (maySplit, isUncut) = (false, true)
        stopParts()
        plan?.unsplit()
        emit(.startedOver)
        if observer.scope.isOpen { request(0) }
    }

    /// Cuts off the draft behind the part of a plan of one part, once what has been begun to write is written, then stores the
    /// plan: before, the shorter draft counts as the beginning of the file.
    func cut(to plan: PartedPlan) -> Observable<Void, NetworkError> {
        .concat([
            file.idle().flatMap { _ in .empty() },
            file.append(.empty(), at: plan.written).flatMap { _ in .empty() },
            stored(plan),
        ])
    }

    /// Ends this run, and forgets what it has: the next run begins once nothing of this one is being written any more.
    private func startOver(_ error: NetworkError) {
        stopParts()
        perform(file.removeRecord()) { self.end(.failed(error)) }
    }
}

extension NetworkError.Code {
    /// The server does not serve ranges of the file.
    static let rangesRefused = NetworkError.Code(rawValue: "rangesRefused")
}

extension NetworkError {
    private static func error(_ code: Code, _ message: String, _ head: ResponseHead) -> NetworkError {
        var error = NetworkError(code, message)
        error.head = head
        return error
    }

    /// Whether no other request for the file would have another response.
    var isFinal: Bool {
        guard code == .status, let head else { return false }
        return [401, 404, 410].contains(head.status.code)
    }

    static func refusedRanges(_ head: ResponseHead) -> NetworkError {
        error(.rangesRefused, "the server ignores ranges", head)
    }

    static func changed(_ head: ResponseHead) -> NetworkError {
        error(.contentChanged, "the object changed while it was downloaded", head)
    }

    static func invalidPart(_ head: ResponseHead) -> NetworkError {
        error(.invalidResponse, "the response is not the part that was requested", head)
    }
}
