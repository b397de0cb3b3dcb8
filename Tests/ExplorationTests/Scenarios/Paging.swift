import FoundationEssentials
import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// A list under a random rule of division, read in both directions, with reloads, and walked through as a whole.
    static let paging: Simulation.Scenario = { simulation in
        let shop = PagedShop(seed: simulation.seed)
        simulation.server(url) { shop.reply(to: $0) }

        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            let commands = Signal<PagingCommand>()
            let list = GoodsList()
            process.subscribe(
                "list",
                to: client.pages(
                    list, shop.rule, options: PagingOptions(window: shop.window, start: shop.position),
                    on: commands.observable, content: { $0.page }),
                describing: { $0.text })
            process.every(.seconds(2), until: quietTime) { turn in commands.send(shop.command(turn)) }
            // Even a slow reader gets both states of a load before the next one.
            for turn in 0..<PagedShop.maxPages {
                let start = quietTime - process.scheduler.now + .seconds(7 * turn)
                process.after(start) { commands.send(.previous) }
                process.after(start + .seconds(7 * PagedShop.maxPages)) { commands.send(.next) }
            }
            let options = PagingOptions<Int>(ahead: shop.ahead, start: shop.position)
            process.every(.seconds(8)) { _ in
                process.subscribe(
                    "items", to: client.items(list, shop.rule, options: options, content: { $0.page }))
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe(
                    "check", to: client.items(list, shop.rule, options: options, content: { $0.page }))
            }
        }

        simulation.expectEnds(of: "items")
        simulation.expectSuccess(of: "check")
        for division in PagedShop.Division.allCases {
            simulation.sometimes("a list by \(division) that has gone back") { log in
                shop.division == division && shop.start > 0
                    && states(of: log).contains { $0.items.first == 1 && $0.items.count > 1 }
            }
        }
        simulation.sometimes("a reload of a list with several pages") { log in
            let counts = states(of: log).map(\.items.count)
            return zip(counts, counts.dropFirst()).contains { $0 > 2 * shop.pageSize && $1 <= shop.pageSize }
        }
        simulation.sometimes("a page fails and is loaded again") { log in
            let states = states(of: log)
            return zip(states, states.dropFirst(2)).contains { former, next in
                former.phase.hasPrefix("failed") && next.items.count > former.items.count
            }
        }
        simulation.sometimes("a window that has moved") { log in
            let first = shop.start * shop.pageSize + 1
            return shop.window != nil && states(of: log).contains { $0.items.first ?? 0 > first }
        }
        simulation.invariant("no item lost, none twice") { log in
            let items = shop.items.dropFirst(shop.start * shop.pageSize).map(String.init)
            return log.subscriptions.filter { $0.name != "list" }.compactMap { walk in
                let isPart = items.starts(with: walk.values)
                return isPart && (walk.end != .finished || walk.values.count == items.count)
                    ? nil : "\(walk.place) of \(shop): \(walk.values)"
            }
        }
        simulation.invariant("the list has no gaps") { log in
            states(of: log).compactMap { state in
                guard let first = state.items.first else { return nil }
                return state.items == Array(first..<first + state.items.count)
                    ? nil : "\(state.phase) \(state.items) of \(shop)"
            }
        }
        simulation.invariant("no more pages than the window holds") { log in
            guard let window = shop.window else { return [] }
            return states(of: log).filter { $0.items.count > window * shop.pageSize }
                .map { "\($0.items) of \(shop)" }
        }
        simulation.invariant("the list reaches both ends") { log in
            guard let list = log.subscriptions("list").last, list.isCutOff else { return [] }
            let half = quietTime + .seconds(7 * PagedShop.maxPages)
            let values = log.events.compactMap { event -> (time: Duration, state: ListState)? in
                guard event.subject == list.place, case .value(let text) = event.kind else { return nil }
                return (event.time, ListState(text))
            }
            guard let atStart = values.last(where: { $0.time < half })?.state, let atEnd = values.last?.state
            else { return ["\(list.place) has no state"] }
            var violations: [String] = []
            if atStart.hasPrevious || atStart.items.first != shop.items.first {
                violations.append("the start of \(shop): \(atStart)")
            }
            if atEnd.phase != "end" || atEnd.items.last != shop.items.last {
                violations.append("the end of \(shop): \(atEnd)")
            }
            return violations
        }
    }

    /// The states of all lists.
    private static func states(of log: SimulationLog) -> [ListState] {
        log.subscriptions("list").flatMap(\.values).map(ListState.init)
    }

    private struct GoodsList: Endpoint {
        typealias Output = PagedShop.Content
        let path = "/goods"
    }
}

/// A server with a list of numbers, divided into pages as the seed says.
private struct PagedShop: Sendable, CustomStringConvertible {
    enum Division: CaseIterable, Sendable { case numbers, starts, offsets, cursors, links }

    /// The content of a page.
    struct Content: Decodable, Sendable {
        var items: [Int]
        var total: Int?
        var next: String?
        var previous: String?

        var page: Page<Int> { Page(items, total: total, nextCursor: next, previousCursor: previous) }
    }

    /// More than any list has.
    static let maxPages = 24

    var division: Division
    var items: [Int]
    /// The size that the client asks for.
    var size: Int
    /// The most that the server sends.
    var cap: Int
    var sendsTotal: Bool
    var window: Int?
    var ahead: Int
    /// The page that lists begin with; a reload begins with the first.
    var start: Int
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        // Neighbouring seeds must differ.
        var random = SeededRandom(seed &* 0xBF58_476D_1CE4_E5B9 ^ seed >> 7)
        for _ in 0..<8 { _ = random.next() }
        division = Division.allCases.randomElement(using: &random) ?? .numbers
        items = Array(1...Int.random(in: 1...20, using: &random))
        size = .random(in: 1...6, using: &random)
        cap = .random(in: 1...6, using: &random)
        sendsTotal = .random(using: &random)
        window = Bool.random(using: &random) ? .random(in: 1...3, using: &random) : nil
        ahead = .random(in: 0...2, using: &random)
        start = .random(in: 0...(items.count - 1) / min(size, cap), using: &random)
    }

    var pageSize: Int { min(size, cap) }

    var description: String {
        "\(items.count) by \(division), size \(size), cap \(cap), total \(sendsTotal), window \(window ?? 0), "
            + "ahead \(ahead), start \(start)"
    }

    var rule: PagingRule {
        switch division {
        case .numbers: .numbered(size: size)
        case .starts: .numbered(size: size, startKey: "from")
        case .offsets: .offset(size: size)
        case .cursors: .cursor(size: size)
        case .links: .link
        }
    }

    /// The position of the first page of lists.
    var position: PagePosition? {
        guard start > 0 else { return nil }
        return switch division {
        case .numbers: .number(start + 1)
        case .starts: .page(start + 1, start: start * pageSize)
        case .offsets: .offset(start * pageSize)
        case .cursors: .cursor("\(start * pageSize)")
        case .links: URL(string: House.url + "/goods?at=\(start * pageSize)").map { .link($0) }
        }
    }

    /// The command of the reader in a turn.
    func command(_ turn: Int) -> PagingCommand {
        var random = SeededRandom(seed &+ UInt64(turn) &* 0x9E37_79B9_7F4A_7C15)
        for _ in 0..<8 { _ = random.next() }
        return switch Int.random(in: 0..<10, using: &random) {
        case 0: .reload
        case 1...3: .previous
        case 4: .visible(.random(in: 0..<20, using: &random))
        default: .next
        }
    }

    func reply(to request: SimulatedRequest) -> ScriptedTransport.Reply {
        func number(_ name: String, or other: Int) -> Int { request.query[name].flatMap { Int($0) } ?? other }
        let (first, limit) =
            switch division {
            case .numbers: ((number("page", or: 1) - 1) * pageSize, pageSize)
            case .starts: (number("from", or: 0), pageSize)
            case .offsets: (number("offset", or: 0), min(number("limit", or: size), cap))
            case .cursors: (number("cursor", or: 0), pageSize)
            case .links: (number("at", or: 0), pageSize)
            }
        let page = items.dropFirst(first).prefix(limit)
        var members = ["\"items\":[\(page.map(String.init).joined(separator: ","))]"]
        if sendsTotal, division != .cursors, division != .links { members.append("\"total\":\(items.count)") }
        let next = first + limit < items.count ? first + limit : nil
        let previous = first > 0 ? max(0, first - limit) : nil
        var headers: HTTPFields = [:]
        if division == .cursors {
            if let next { members.append("\"next\":\"\(next)\"") }
            if let previous { members.append("\"previous\":\"\(previous)\"") }
        } else if division == .links, let link = HTTPField.Name("Link") {
            let links = [("next", next), ("prev", previous)].compactMap { name, position in
                position.map { "</goods?at=\($0)>; rel=\"\(name)\"" }
            }
            if !links.isEmpty { headers[link] = links.joined(separator: ", ") }
        }
        return .json("{\(members.joined(separator: ","))}", headers: headers)
    }
}

/// A state of the list, as its text in the log says.
private struct ListState: CustomStringConvertible {
    var phase: String
    var hasPrevious: Bool
    var items: [Int]
    let description: String

    init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        phase = String(words[0])
        hasPrevious = words[1] == "<"
        items = words[2].split(separator: ",").compactMap { Int($0) }
        description = text
    }
}

extension PagingState<Int> {
    /// The phase, whether there are pages before, and the items.
    fileprivate var text: String {
        let phase =
            switch phase {
            case .idle: "idle"
            case .loadingFirst: "first"
            case .loadingMore: "more"
            case .loadingPrevious: "previous"
            case .failed(let error): "failed(\(error.code.rawValue))"
            case .end: "end"
            }
        return "\(phase) \(hasPrevious ? "<" : "|") \(items.map(String.init).joined(separator: ","))"
    }
}
