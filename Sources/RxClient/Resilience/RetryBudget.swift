public import RxHTTP
public import RxLite
import Synchronization

/// Keeps retries and hedges from becoming most of the load of a failing host: of the requests to one host in the last
/// ten seconds at most so many may be repetitions. When the budget is spent, the first error stands.
///
/// ```swift
/// configuration.retryBudget = RetryBudget(ratio: 0.1)
/// ```
///
/// Clients have one by default. Several share one that they are given; each host has its own account. Safe from any
/// thread.
public final class RetryBudget: Sendable {
    /// How many are kept before those without any count are forgotten.
    private static let accountLimit = 1024

    private let ratio: Double
    private let window: Duration
    private let floor: Double
    private let clock: (any Scheduler)?
    private let accounts = Mutex<[Origin: Account]>([:])

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - ratio: how many retries there may be for each request. Default 0.2.
    ///   - floor: how many there may be per second however few the requests are, taken over the whole window.
    ///     Default 10, which is 100 in ten seconds.
    ///   - window: the length of the window, which slides in tenths. Default 10 s.
    ///   - clock: keeps the time. Default: that of the first client that sends something to a host, else a clock of
    ///     the library's.
    public init(
        ratio: Double = 0.2, floor: Double = 10, window: Duration = .seconds(10),
        clock: (any Scheduler)? = nil
    ) {
        self.ratio = ratio
        self.floor = floor
        self.window = window
        self.clock = clock
    }

    /// The account of a host.
    public func account(of origin: Origin) -> Account { account(of: origin, on: nil) }

    func account(of origin: Origin, on clock: (any Scheduler)?) -> Account {
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
