import Testing

@testable import RxCurl

@Suite struct CommandQueueTests {
    /// Commands keep the order of arrival, also those that arrive while others are applied.
    @Test func commandsComeInTheirOrder() {
        var queue = CommandQueue()
        #expect(queue.isEmpty)
        queue.append(.widenQueue)
        queue.append(.close)
        #expect(queue.next()?.isClose == false)
        queue.append(.widenQueue)
        #expect(queue.next()?.isClose == true)
        #expect(!queue.isEmpty)
        #expect(queue.next()?.isClose == false)
        #expect(queue.next() == nil)
        #expect(queue.isEmpty)
    }

    @Test func allCanBeDropped() {
        var queue = CommandQueue()
        queue.append(.widenQueue)
        queue.append(.close)
        _ = queue.next()
        queue.append(.close)
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(queue.next() == nil)
    }
}

extension Multi.Command {
    fileprivate var isClose: Bool { if case .close = self { true } else { false } }
}
