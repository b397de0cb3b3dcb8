import RxHTTP
import RxLite

/// Loads all pages of a list in order, as fast as the subscriber takes them, some of them ahead.
final class PageIterator<Item: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    /// A page that has been requested.
    private final class Slot: @unchecked Sendable {
        // Unchecked: runs only inside the iterator's lane, which is serial.
        let position: PagePosition?
        let scope: Scope
        var result: Result<Page<Item>?, NetworkError>?

        init(_ position: PagePosition?, _ scope: Scope) {
            self.position = position
            self.scope = scope
        }
    }

    private let ahead: Int
    private let maxPages: Int
    private let load: Paging<Item>.Load
    private let observer: Observer<Page<Item>, NetworkError>
    private var run: PageRun<Item>
    /// The next page, and the pages after it that are expected.
    private var slots: [Slot] = []
    /// The reason why there is no page after the last one; reported when the last page has been taken.
    private var failure: NetworkError?
    private var isAdvancing = false

    init(
        _ rule: PagingRule, _ options: PagingOptions<Item>, _ load: @escaping Paging<Item>.Load,
        into observer: Observer<Page<Item>, NetworkError>
    ) {
        ahead = max(0, options.ahead)
        maxPages = options.maxPages ?? .max
        var options = options
        // The items are passed on at once.
        options.window = nil
        run = PageRun(rule, options)
        self.load = load
        self.observer = observer
    }

    func start() {
        observer.scope.onResume { self.advance() }
        advance()
    }

    /// Takes and loads pages in a loop while they arrive synchronously, so that the stack does not grow with
    /// their number.
    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while observer.scope.isOpen && !observer.scope.isPaused {
            if let failure { return end(.failed(failure)) }
            guard run.hasMore else { return end(.finished) }
            ask()
            // A page that arrived synchronously may have filled the subscriber's buffer.
            guard observer.scope.isOpen, let result = slots.first?.result else { return }
            slots.removeFirst()
            switch result {
            case .success(let page?): take(page)
            case .success(nil): return end(.finished)
            case .failure(let error) where run.isEnd(error): return end(.finished)
            case .failure(let error): return end(.failed(error))
            }
        }
    }

    /// Requests the next page and, if their positions are known, the pages after it.
    private func ask() {
        if slots.isEmpty { request(run.position) }
        while slots.count <= ahead, run.pageCount + slots.count < maxPages,
            let position = slots.last?.position,
            let expected = run.expectedNext(after: position)
        {
            request(expected)
        }
    }

    private func request(_ position: PagePosition?) {
        let slot = Slot(position, observer.scope.child())
        slots.append(slot)
        load(run.page(at: position)).subscribe(
            Observer(
                scope: slot.scope, next: { self.settle(slot, .success($0)) },
                end: { completion in
                    switch completion {
                    case .finished: self.settle(slot, .success(nil))
                    case .failed(let error): self.settle(slot, .failure(error))
                    }
                }))
    }

    private func settle(_ slot: Slot, _ result: Result<Page<Item>?, NetworkError>) {
        guard slot.result == nil else { return }
        slot.result = result
        slot.scope.close()
        advance()
    }

    private func take(_ page: Page<Item>) {
        let position = run.position
        do throws(NetworkError) {
            try run.receive(page)
        } catch {
            failure = error
        }
        // Pages requested for other positions are useless now.
        if let slot = slots.first, !run.hasMore || slot.position != run.position { dropAll() }
        var page = page
        page.items = run.takeItems()
        page.position = position
        page.next = run.hasMore ? run.position : nil
        observer.next(page)
    }

    private func dropAll() {
        for slot in slots { slot.scope.close() }
        slots = []
    }

    private func end(_ completion: Completion<NetworkError>) {
        dropAll()
        observer.end(completion)
    }
}
