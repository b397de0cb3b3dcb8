import RxHTTP
import RxLite

/// A list under way: loads pages when it is told to, one at a time.
final class Paging<Item: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    typealias Load =
        @Sendable (PagePlacement?) -> Observable<(page: Page<Item>, response: Response), NetworkError>

    private let newRun: @Sendable () -> PageRun<Item>
    private let load: Load
    private let observer: Observer<PagingState<Item>, Never>
    private var state = PagingState<Item>()
    /// The run that is being extended; after a reload a new one, whose items are shown once it has any.
    private var run: PageRun<Item>
    private var loading: Scope?

    init(
        _ newRun: @escaping @Sendable () -> PageRun<Item>, _ load: @escaping Load,
        into observer: Observer<PagingState<Item>, Never>
    ) {
        self.newRun = newRun
        self.load = load
        self.observer = observer
        run = newRun()
    }

    func start(next: Observable<Void, Never>, reload: Observable<Void, Never>) {
        next.subscribe(
            Observer(scope: observer.scope.child(), next: { self.loadNext() }, end: { _ in }))
        reload.subscribe(
            Observer(scope: observer.scope.child(), next: { self.reload() }, end: { _ in }))
        observer.scope.perform { self.loadPage() }
    }

    private func loadNext() {
        if loading == nil && run.hasMore { loadPage() }
    }

    /// Drops the page on its way, if any, and begins anew.
    private func reload() {
        loading?.close()
        loading = nil
        run = newRun()
        loadPage()
    }

    private func loadPage() {
        guard run.hasMore else { return show(.end) }
        show(run.pageCount == 0 ? .loadingFirst : .loadingMore)
        guard observer.scope.isOpen else { return }
        let scope = observer.scope.child()
        loading = scope
        load(run.placement).subscribe(
            Observer(
                scope: scope, next: { self.receive($0.page, in: $0.response) },
                end: { completion in
                    scope.close()
                    if self.loading === scope { self.loading = nil }
                    switch completion {
                    case .finished: self.show(.idle)
                    case .failed(let error): self.show(.failed(error))
                    }
                }))
    }

    private func receive(_ page: Page<Item>, in response: Response) {
        loading?.close()
        loading = nil
        let phase: PagingState<Item>.Phase
        do throws(NetworkError) {
            try run.receive(page, in: response)
            phase = run.hasMore ? .idle : .end
        } catch {
            phase = .failed(error)
        }
        state.items = run.items
        state.page = run.pageCount
        state.total = run.total
        show(phase)
    }

    private func show(_ phase: PagingState<Item>.Phase) {
        state.phase = phase
        observer.next(state)
    }
}
