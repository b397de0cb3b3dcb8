import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

/// Lists that load in both directions, with limits, windows and reloads.
@Suite struct PagingDirectionTests {
    private let commands = Signal<PagingCommand>()

    /// The list after each command, including the first page.
    private func texts<E: Endpoint>(
        of endpoint: E, _ rule: PagingRule, _ options: PagingOptions<Goods>, _ fixture: PagingFixture,
        after followed: [PagingCommand],
        content: @escaping @Sendable (E.Output) throws(NetworkError) -> Page<Goods>
    ) throws -> [String] {
        let recorder = Recorder(
            fixture.client.pages(endpoint, rule, options: options, on: commands.observable, content: content),
            on: fixture.clock)
        try fixture.clock.run()
        var texts = [recorder.texts.last ?? ""]
        for command in followed {
            commands.send(command)
            try fixture.clock.run()
            texts.append(recorder.texts.last ?? "")
        }
        recorder.cancel()
        return texts
    }

    private func texts(
        _ options: PagingOptions<Goods>, after commands: [PagingCommand], count: Int = 20
    ) throws -> [String] {
        try texts(
            of: GoodsList(), .numbered(size: 2), options, PagingFixture(answer: PagingFixture.shop(count)),
            after: commands
        ) { Page($0) }
    }

    /// A reload begins with the first page, wherever the list began.
    @Test func reload() throws {
        #expect(
            try texts(PagingOptions(start: .number(3)), after: [.previous, .reload, .next])
                == ["idle 5,6", "idle 3,4,5,6", "idle 1,2", "idle 1,2,3,4"])
    }

    /// Limits count in both directions; a page that exceeds the limit is shown from its near end.
    @Test func limits() throws {
        #expect(
            try texts(PagingOptions(maxPages: 2, start: .number(3)), after: [.previous, .previous, .next])
                == ["idle 5,6", "end 3,4,5,6", "end 3,4,5,6", "end 3,4,5,6"])
        #expect(
            try texts(PagingOptions(maxItems: 3, start: .number(3)), after: [.previous, .previous, .next])
                == ["idle 5,6", "end 4,5,6", "end 4,5,6", "end 4,5,6"])
        #expect(
            try texts(PagingOptions(maxItems: 3, start: .number(3)), after: [.next, .previous])
                == ["idle 5,6", "end 5,6,7", "end 5,6,7"])
        #expect(
            try texts(PagingOptions(maxPages: .min, maxItems: .min, start: .number(3)), after: [.next])
                == ["end", "end"])
    }

    /// A window with a limit can be scrolled from end to end.
    @Test(arguments: [false, true])
    func windows(deduplicates: Bool) throws {
        var options = PagingOptions<Goods>(maxPages: 4, window: 2)
        if deduplicates { options.identity = { $0.id } }
        let there: [PagingCommand] = [.next, .next, .next, .next]
        let back: [PagingCommand] = [.previous, .previous, .previous]
        let once = ["idle 1,2,3,4", "idle 3,4,5,6", "end 5,6,7,8", "end 5,6,7,8"]
        let returned = ["idle 3,4,5,6", "idle 1,2,3,4", "idle 1,2,3,4"]
        #expect(
            try texts(options, after: there + back + [.next, .next])
                == ["idle 1,2"] + once + returned + ["idle 3,4,5,6", "end 5,6,7,8"])

        options.maxPages = nil
        options.maxItems = 3
        options.window = 1
        #expect(
            try texts(options, after: [.next, .previous, .next, .next])
                == ["idle 1,2", "end 3", "idle 1,2", "end 3", "end 3"])
    }

    /// Going back in a window counts no item twice, so that the end is where the total says.
    @Test func total() throws {
        let lists = try texts(
            of: GoodsList(), .numbered(size: 2), PagingOptions(window: 1),
            PagingFixture(answer: PagingFixture.shop(6)),
            after: [.next, .next, .previous, .previous, .next, .next]
        ) { Page($0, total: 6) }
        #expect(
            lists == [
                "idle 1,2", "idle 3,4", "end 5,6", "idle 3,4", "idle 1,2", "idle 3,4", "end 5,6",
            ])
    }

    /// A page that has become shorter or empty in the meantime breaks nothing.
    @Test(arguments: [1, 2], [nil, 3])
    func shrinking(window: Int, maxItems: Int?) throws {
        for answers: [[Int]] in [
            [[1, 2], [3, 4], [], [3], [], [1]], [[1, 2], [3, 4], [1], [], [9], [3]],
        ] {
            let script = Script(answers.map { ScriptedTransport.Reply.goods($0) })
            let options = PagingOptions<Goods>(identity: { $0.id }, maxItems: maxItems, window: window)
            let lists = try texts(
                of: GoodsList(), .numbered(size: 2, last: .empty), options,
                PagingFixture { _ in script.next() }, after: [.next, .previous, .next, .previous, .next]
            ) { Page($0) }
            #expect(lists.first == "idle 1,2")
            #expect(lists.allSatisfy { !$0.contains("failed") })
        }
    }

    private struct Feed: Endpoint {
        struct Output: Decodable, Sendable {
            let items: [Goods]
            let next: String?
            let previous: String?
        }
        let path = "/feed"
        let method = HTTPRequest.Method.get
    }

    private static let bothWays: [PagingCommand] = [
        .previous, .previous, .previous, .next, .next, .next, .next,
    ]

    private static func listsBothWays(window: Int?) -> [String] {
        window == nil
            ? ["idle 3", "idle 2,3", "idle 1,2,3", "idle 1,2,3"] + Array(repeating: "end 1,2,3,4", count: 4)
            : ["idle 3", "idle 2,3", "idle 1,2", "idle 1,2", "idle 2,3", "end 3,4", "end 3,4", "end 3,4"]
    }

    /// By cursors, from the middle to both ends, with a window.
    @Test(arguments: [nil, 2])
    func cursors(window: Int?) throws {
        let fixture = PagingFixture { request in
            let number = request.parameter("cursor").flatMap { Int($0) } ?? 1
            let next = number < 4 ? #", "next": "\#(number + 1)""# : ""
            let previous = number > 1 ? #", "previous": "\#(number - 1)""# : #", "previous": """#
            return .json(#"{"items": [{"id": \#(number), "name": "x"}]\#(next)\#(previous)}"#)
        }
        let lists = try texts(
            of: Feed(), .cursor(), PagingOptions(window: window, start: .cursor("3")), fixture,
            after: Self.bothWays
        ) { Page($0.items, nextCursor: $0.next, previousCursor: $0.previous) }
        #expect(lists == Self.listsBothWays(window: window))
    }

    /// By links, from the middle to both ends, with a window.
    @Test(arguments: [nil, 2])
    func links(window: Int?) throws {
        let fixture = PagingFixture { request in
            let number = request.parameter("n").flatMap { Int($0) } ?? 0
            let links = [(number - 1, "prev"), (number + 1, "next")].filter { (1...4).contains($0.0) }
                .map { "</goods?n=\($0)>; rel=\"\($1)\"" }.joined(separator: ", ")
            return .goods([number], link: links)
        }
        let start = PagePosition.link(try #require(URL(string: "https://shop.test/goods?n=3")))
        let lists = try texts(
            of: GoodsList(), .link, PagingOptions(window: window, start: start), fixture, after: Self.bothWays
        ) { Page($0) }
        #expect(lists == Self.listsBothWays(window: window))
    }

    /// No more pages are prefetched than may be loaded.
    @Test func ahead() throws {
        let fixture = PagingFixture(answer: PagingFixture.shop(100))
        let all = Recorder(
            fixture.client.items(
                GoodsList(), .numbered(size: 2), options: PagingOptions(maxPages: 2, ahead: 5)),
            on: fixture.clock)
        try fixture.clock.run()
        #expect(all.values.map(\.id) == [1, 2, 3, 4])
        #expect(fixture.asked == [1, 2])
    }
}
