public import RxHTTP
public import RxLite
import Synchronization

/// Limits the load of retries and hedges on a failing host: only a share of the requests to one host in the
/// last ten seconds may be repetitions. When the budget is spent, the first error is final.
///
/// ```swift
/// configuration.retryBudget = RetryBudget(ratio: 0.1)
/// ```
///
/// Each client has a budget by default. Several clients can share one; each host has a separate account. Safe
/// from any thread.
public final class RetryBudget: Sendable {
    /// The number of accounts kept before those without counts are dropped.
    private static let accountLimit = 1024

    private let ratio: Double
    private let window: Duration
    private let floor: Double
    private let clock: (any Scheduler)?
    private let accounts = Mutex<[Origin: Account]>([:])

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - ratio: the number of retries allowed per request. Default 0.2.
    ///   - floor: the number of retries per second that are always allowed, summed over the whole window.
    ///     Default 10, which is 100 in ten seconds.
    ///   - window: the length of the window, which slides in tenths. Default 10 s.
    ///   - clock: the clock of the budget. Default: the clock of the first client that sends a request to a
    ///     host, otherwise the library's shared clock.
    public init(
        ratio: Double = 0.2, floor: Double = 10, window: Duration = .seconds(10),
        clock: (any Scheduler)? = nil
    ) {
        self.ratio = ratio
        self.floor = floor
        self.window = window
        self.clock = clock
    }

    /// Counts a request that is sent to a host, which earns budget for its retries. A client counts every request,
    /// including those of ``Client/response(_:from:)``. Up to 15 requests are counted a little later, with the next ones.
    public func noteRequest(to origin: Origin) { account(of: origin).noteRequest() }

    /// Spends one retry to a host, if its budget allows it.
    public func withdraw(for origin: Origin) -> Bool { account(of: origin).withdraw() }

    /// The account of a host.
    func account(of origin: Origin, on clock: (any Scheduler)? = nil) -> Account {
        accounts.withLock { accounts in
            if let account = accounts[origin] { return account }
            if accounts.count >= Self.accountLimit { accounts = accounts.filter { !$0.value.isEmpty } }
            let account = Account(
                ratio: ratio, floor: floor, window: window,
                on: self.clock ?? clock ?? ActorScheduler.shared)
            accounts[origin] = account
            return account
        }
    }
}
