import RxNetworking
import RxTesting

extension House {
    /// A list of 30 in pages of 7, driven by a reader who asks for more and reloads, and a walk through all items.
    static let paging: Simulation.Scenario = { simulation in
        let whole = Array(1...30)
        simulation.server(url) { request in
            let (page, size) = (Int(request.query["page"] ?? "") ?? 1, 7)
            let items = whole.dropFirst((page - 1) * size).prefix(size)
            return .json("[\(items.map(String.init).joined(separator: ","))]")
        }

        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            let (next, reload) = (Signal<Void>(), Signal<Void>())
            let list = GoodsList()
            process.subscribe(
                "list", to: client.pages(list, .numbered(size: 7), next: next, reload: reload),
                describing: { $0.text })
            process.every(.seconds(2), until: quietTime + .seconds(60)) { turn in
                if turn % 7 == 0 && process.scheduler.now < quietTime { reload.send() } else { next.send() }
            }
            process.every(.seconds(8)) { _ in
                process.subscribe("items", to: client.items(list, .numbered(size: 7)))
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe("check", to: client.items(list, .numbered(size: 7)))
            }
        }

        simulation.expectEnds(of: "items")
        simulation.expectSuccess(of: "check")
        simulation.sometimes("a reload of a list with several pages") { log in
            let sizes = log.subscriptions("list").flatMap { list in list.values.map(\.items.count) }
            return zip(sizes, sizes.dropFirst()).contains { $0 > 60 && $1 < 40 }
        }
        simulation.sometimes("a page fails and is loaded again") { log in
            log.subscriptions("list").contains { list in
                guard let failure = list.values.firstIndex(where: { $0.hasPrefix("failed") }) else {
                    return false
                }
                return list.values[failure...].contains("end \(whole)")
            }
        }
        simulation.invariant("no item lost, none twice") { log in
            log.subscriptions.filter { $0.name != "list" }.compactMap { walk in
                let isPart = whole.map(String.init).starts(with: walk.values)
                return isPart && (walk.end != .finished || walk.values.count == whole.count)
                    ? nil : "\(walk.place): \(walk.values)"
            }
        }
        simulation.invariant("the list has no gaps") { log in
            log.subscriptions("list").flatMap { list in
                list.values.filter { !whole.description.hasPrefix(String($0.items.dropLast())) }
                    .map { "\(list.place): \($0)" }
            }
        }
        simulation.invariant("the list is complete in the end") { log in
            log.subscriptions("list").compactMap { list in
                list.isCutOff && list.values.last != "end \(whole)"
                    ? "\(list.place): \(list.values.last ?? "")" : nil
            }
        }
    }

    private struct GoodsList: Endpoint {
        typealias Output = [Int]
        let path = "/goods"
    }
}

extension PagingState<Int> {
    /// The phase and the items.
    fileprivate var text: String {
        let phase =
            switch phase {
            case .idle: "idle"
            case .loadingFirst: "first"
            case .loadingMore: "more"
            case .loadingPrevious: "previous"
            case .failed(let error): "failed(\(error.code))"
            case .end: "end"
            }
        return "\(phase) \(items)"
    }
}

extension String {
    /// The list in the text of a state.
    fileprivate var items: Substring { self[(firstIndex(of: "[") ?? startIndex)...] }
}
