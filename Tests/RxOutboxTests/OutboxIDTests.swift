#if Outbox
import Foundation
import Testing

@testable import RxOutbox

@Suite struct OutboxIDTests {
    /// Ids grow with the time, are of version 7, and differ.
    @Test func ids() {
        let ids = (0..<1000).map { number in
            UUID.ordered(at: Date(timeIntervalSince1970: Double(number / 2))).uuidString
        }
        #expect(Set(ids).count == 1000)
        for (number, id) in ids.enumerated() {
            let digits = Array(id)
            #expect(digits[14] == "7" && "89AB".contains(digits[19]))
            if number >= 2 { #expect(ids[number - 2] < id) }
        }
        for date in [Date.distantPast, .distantFuture] {
            #expect(UUID.ordered(at: date).uuidString.count == 36)
        }
    }
}
#endif
