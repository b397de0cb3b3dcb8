import Foundation
import RxNetworking
import Synchronization

extension Recipe {
    static let wholeChain = Recipe(
        "One list, one chain",
        "Orders, page by page. The second page fails once, then the login expires: the list shows neither."
    ) { stage in
        let server = Client.shop(stage.baseURL, named: "statistics")
        let session = Session { server.account.logIn(as: "ada", password: "tea") }
        var configuration = ClientConfiguration(baseURL: stage.baseURL)
        configuration.session = session
        let client = Client(configuration: configuration)
        Inspection.inspect(client, named: "orders")
        let run = "\(ContinuousClock.now)"
        let before = try await server.statistics().value()
        let notes = stage.notes(of: client, session)
        defer { notes.cancel() }
        var last = PagingState<Order>()
        // Code
        let scrolled = Signal<Void>().inspected("scrolled")
        let pulledDown = Signal<Void>().inspected("pulled down")
        let commands: Observable<PagingCommand, Never> = .merge(
            scrolled.observable.map { .next }, pulledDown.observable.map { .reload })

        let list = commands.accumulatePages(.numbered(size: 5)) { page in
            client.response(OrdersList(page.parameters, failingPage: 2, run: run))
                .unwrap(.shop)
                .relogin(through: session)
                .retry(.exponentialBackoff(maxRetries: 2))
                .decode(OrdersPage.self)
                .map { Page($0.list, total: $0.total) }
        }

        for await state in list.inspected("list").values(buffering: .unbounded) {
            stage.note("list    \(state.items.count) of \(state.total ?? 0) orders, \(state.phase)")
            last = state
            if case .end = state.phase { break }
            guard case .idle = state.phase else { continue }
            if state.page == 2 { _ = try await server.post("/expire").value() }
            scrolled.send()
        }
        // Shown
        let after = try await server.statistics().value()
        let logins = after.logins - before.logins
        let requests = after.count("GET /orders") - before.count("GET /orders")
        stage.expect(last.items.map(\.id) == Array(1...20), "20 orders in order")
        // The first login, and the one in the middle; each page once, and once more after a 401, a 503 and a 401.
        stage.expect(logins == 2 && requests == 7, "two logins and 7 requests, not \(logins) and \(requests)")
        stage.result(
            "\(last.items.count) orders from \(last.page) pages; \(requests) requests, \(logins) logins")
    }
}

extension Stage {
    /// Writes what a client sends and receives, and the events of its session.
    fileprivate func notes(of client: Client, _ session: Session) -> any Cancellable {
        let bag = SubscriptionBag()
        client.traffic.subscribe { event in
            let page = event.request.url.query()?.firstMatch(of: #/page=(\d+)/#)?.1 ?? ""
            switch event.kind {
            case .sent: self.note("sent    page \(page)")
            case .transfer(.head(let head)): self.note("status  \(head.status.code)")
            default: break
            }
        }
        .store(in: bag)
        session.events.subscribe { self.note("session \($0)") }.store(in: bag)
        return bag
    }
}
