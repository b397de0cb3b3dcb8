#if Inspector
import RxClient

extension EmulatedNetwork {
    /// The parameters of `Network.emulateNetworkConditions`: milliseconds, and bytes per second, where −1 and 0 are no
    /// limit. `nil` for the real network.
    ///
    /// - Throws: for missing and for impossible values.
    init?(_ params: JSON) throws(Command.Failure) {
        guard let isOffline = params["offline"]?.bool else {
            throw .invalidParameters("offline: boolean value expected")
        }
        try self.init(isOffline: isOffline, params)
    }

    /// The parameters of `Network.emulateNetworkConditionsByRule`. Of its rules, the one for all URLs applies.
    init?(rules params: JSON) throws(Command.Failure) {
        let rules = params["matchedNetworkConditions"]?.elements ?? []
        let rule = rules.last { ($0["urlPattern"]?.string ?? "").isEmpty }
        guard let rule else {
            guard params["offline"]?.bool == true else { return nil }
            self.init(isOffline: true)
            return
        }
        try self.init(isOffline: params["offline"]?.bool == true || rule["offline"]?.bool == true, rule)
    }

    private init?(isOffline: Bool, _ params: JSON) throws(Command.Failure) {
        guard let latency = params["latency"]?.number, 0...86_400_000 ~= latency else {
            throw .invalidParameters("latency: number of milliseconds expected")
        }
        func rate(_ name: String) -> Double? { params[name]?.number.flatMap { $0 > 0 ? $0 : nil } }
        self.init(
            isOffline: isOffline, latency: .milliseconds(latency), downloadRate: rate("downloadThroughput"),
            uploadRate: rate("uploadThroughput"))
        guard self != EmulatedNetwork() else { return nil }
    }
}
#endif
