import RxHTTP
package import RxLite

extension PagingState: InspectedValue {
    /// One line without the items, for the inspector of streams.
    package var inspectedText: String {
        "page \(page), \(items.count)\(total.map { " of \($0)" } ?? "") items, \(phase.inspectedName)"
    }

    /// The numbers of pages and items.
    package var inspectedPages: ShownPages? {
        ShownPages(page: page, items: items.count, total: total, phase: phase.inspectedName)
    }
}

extension PagingState.Phase {
    fileprivate var inspectedName: String {
        switch self {
        case .idle: "idle"
        case .loadingFirst: "loading the first page"
        case .loadingMore: "loading more"
        case .loadingPrevious: "loading the previous page"
        case .failed(let error): "failed: \(error.code.rawValue)"
        case .end: "end"
        }
    }
}
