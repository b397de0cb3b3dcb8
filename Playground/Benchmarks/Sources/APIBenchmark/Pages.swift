import Foundation
import HTTPCases
import RxNetworking

/// Loads a long list page by page as one stream of items, and measures the resident memory.
struct Pages {
    let baseURL: String
    /// The number of items.
    let count: Int

    private struct Item: Decodable, Sendable {
        let id: Int
        let name: String
        let price: Double
    }

    private struct List: Decodable, Sendable {
        let list: [Item]
        let total: Int
    }

    private struct Goods: Endpoint {
        typealias Output = List
        let path = "/pages"
        let method = HTTPRequest.Method.get
        let total: Int
        var parameters: Parameters { .query(["total": total]) }
    }

    private struct Line: Encodable {
        let `case` = "items"
        let items: Int
        let residentKiB: Int
        let microseconds: Double
    }

    func run() async throws {
        var configuration = ClientConfiguration()
        configuration.options.envelope = Envelope(
            code: "errcode", message: "msg", payload: "data", success: 200)
        let client = Client(baseURL: baseURL, configuration: configuration)
        let items = client.items(Goods(total: count), .numbered(size: 100)) { Page($0.list, total: $0.total) }
        var taken = 0
        var processorTime = Usage().cpuSeconds
        for try await item in items.values(buffering: .suspend(high: 256, low: 64)) {
            guard item.id == taken else { throw Wrong("item \(item.id) comes where \(taken) is due") }
            taken += 1
            guard taken.isMultiple(of: count / 10) else { continue }
            let now = Usage().cpuSeconds
            try report(
                Line(
                    items: taken, residentKiB: try residentKiB(),
                    microseconds: (now - processorTime) / Double(count / 10) * 1e6))
            processorTime = now
        }
        guard taken == count else { throw Wrong("\(taken) items came, and not \(count)") }
    }

    private func residentKiB() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { throw Wrong("/proc/self/statm is odd") }
        return pages * sysconf(Int32(_SC_PAGESIZE)) / 1024
    }
}
