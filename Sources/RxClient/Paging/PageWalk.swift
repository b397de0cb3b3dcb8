import RxHTTP
import RxLite

/// All pages of a list, one after the other, as fast as they are taken.
final class PageWalk<Item: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let load: Paging<Item>.Load
    private let observer: Observer<[Item], NetworkError>
    private var run: PageRun<Item>
    /// Why there is no page after the last one; told when the items of that one have been taken.
    private var failure: NetworkError?
    private var isLoading = false
    private var isAdvancing = false

    init(
        _ run: PageRun<Item>, _ load: @escaping Paging<Item>.Load,
        into observer: Observer<[Item], NetworkError>
    ) {
        self.run = run
        self.load = load
        self.observer = observer
    }

    func start() {
        observer.scope.onResume { self.advance() }
        advance()
    }

    /// Loads pages in a loop while they come at once, so that the stack does not grow with their number.
    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while !isLoading && observer.scope.isOpen && !observer.scope.isPaused {
            if let failure { return observer.fail(failure) }
            guard run.hasMore else { return observer.finish() }
            isLoading = true
            loadPage()
        }
    }

    private func loadPage() {
        let scope = observer.scope.child()
        load(run.placement).subscribe(
            Observer(
                scope: scope,
                next: { loaded in
                    scope.close()
                    do throws(NetworkError) {
                        try self.run.receive(loaded.page, in: loaded.response)
                    } catch {
                        self.failure = error
                    }
                    self.observer.next(self.run.takeItems())
                    self.isLoading = false
                    self.advance()
                },
                end: { completion in
                    scope.close()
                    self.observer.end(completion)
                }))
    }
}
