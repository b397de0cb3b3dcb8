import RxHTTP
import RxLite
import RxParameters

/// A running list: loads pages on command, one at a time.
final class Paging<Item: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    typealias Load =
        @Sendable (_ page: (position: PagePosition?, parameters: Parameters.Values)) -> Observable<
            Page<Item>, NetworkError
        >

    private let rule: PagingRule
    private let load: Load
    private let observer: Observer<PagingState<Item>, Never>
    private var state = PagingState<Item>()
    /// The run that is being extended; after a reload a new one, whose items are shown once there are any.
    private var run: PageRun<Item>
    private var loading: Scope?
    private let options: PagingOptions<Item>
    /// The index of the visible item, as far as known.
    private var visible: Int?

    /// The end of the list where a page is added.
    private enum Side {
        case after, before
    }

    init(
        _ rule: PagingRule, _ options: PagingOptions<Item>, _ load: @escaping Load,
        into observer: Observer<PagingState<Item>, Never>
    ) {
        self.rule = rule
        self.options = options
        self.load = load
        self.observer = observer
        run = PageRun(rule, options)
    }

    /// Loads the first page before it subscribes to the commands: a command emitted at once must find the
    /// list loading.
    func start(_ commands: Observable<PagingCommand, Never>) {
        observer.scope.perform { self.loadPage() }
        guard observer.scope.isOpen else { return }
        let scope = observer.scope.child()
        // When the commands end, the list stays unchanged.
        commands.subscribe(Observer(scope: scope, next: { self.handle($0) }, end: { _ in scope.close() }))
    }

    private func handle(_ command: PagingCommand) {
        switch command {
        case .next: loadNext()
        case .previous: loadPrevious()
        case .reload: reload()
        case .visible(let index):
            visible = index
            loadNearbyPages()
        }
    }

    private func loadNext() {
        if loading == nil && run.hasMore { loadPage() }
    }

    private func loadPrevious() {
        if loading == nil && run.previous != nil { load(.before) }
    }

    private func loadNearbyPages() {
        guard let visible else { return }
        let distance = max(0, options.prefetchDistance)
        if run.hasMore && visible >= state.items.count - distance {
            loadNext()
        } else if visible < distance {
            loadPrevious()
        }
    }

    /// Cancels a load in progress, and starts over with the first page.
    private func reload() {
        loading?.close()
        loading = nil
        visible = nil
        var options = options
        options.start = nil
        run = PageRun(rule, options)
        loadPage()
    }

    private func loadPage() {
        guard run.hasMore else { return show(.end) }
        load(.after)
    }

    private func load(_ side: Side) {
        show(side == .before ? .loadingPrevious : run.pageCount == 0 ? .loadingFirst : .loadingMore)
        guard observer.scope.isOpen else { return }
        let scope = observer.scope.child()
        loading = scope
        load(run.page(at: side == .before ? run.previous : run.position)).subscribe(
            Observer(
                scope: scope, next: { self.receive($0, at: side) },
                end: { completion in
                    scope.close()
                    if self.loading === scope { self.loading = nil }
                    switch completion {
                    case .finished: self.show(.idle)
                    case .failed(let error) where side == .after && self.run.isEnd(error): self.end()
                    case .failed(let error): self.show(.failed(error))
                    }
                }))
    }

    private func receive(_ page: Page<Item>, at side: Side) {
        loading?.close()
        loading = nil
        let phase: PagingState<Item>.Phase
        do throws(NetworkError) {
            switch side {
            case .after: try run.receive(page)
            case .before: if try !run.receivePrevious(page) { return load(.before) }
            }
            phase = run.hasMore ? .idle : .end
        } catch {
            phase = .failed(error)
        }
        // A page without items that names a next one shows nothing new.
        if side == .after, page.items.isEmpty, run.hasMore { return load(.after) }
        state.items = run.items
        state.page = run.pageCount
        state.total = run.total
        state.position = run.hasMore ? run.position : nil
        state.hasPrevious = run.previous != nil
        // The index now belongs to another item.
        if side == .before || options.window != nil { visible = nil }
        show(phase)
        if phase.error == nil { loadNearbyPages() }
    }

    private func end() {
        run.end()
        state.position = nil
        show(.end)
    }

    private func show(_ phase: PagingState<Item>.Phase) {
        state.phase = phase
        observer.next(state)
    }
}
