public import FoundationEssentials

/// The source of the responses of a ``CassetteTransport``.
public enum CassetteMode: String, Sendable, CaseIterable {
    /// The cassette; nothing is sent.
    case replay
    /// The network; the exchanges replace those of the cassette.
    case record
    /// The cassette, or the network for requests that match no exchange; these are added to the cassette.
    case replayOrRecord
    /// The network; the cassette is neither read nor written.
    case passthrough

    /// The name of the environment variable that selects the mode of tests.
    public static let variable = "RX_CASSETTES"

    /// The mode that the environment selects: the value of ``variable``, by default ``replay``.
    ///
    /// - Parameter environment: the variables. Default those of the process.
    /// - Throws: ``FixtureError/Problem/invalid(_:)`` for an unknown mode, and
    ///   ``FixtureError/Problem/recordingInCI`` if the mode records although `CI` is set and not `false` or `0`.
    public static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(FixtureError) -> CassetteMode {
        guard let name = environment[variable], !name.isEmpty else { return .replay }
        guard let mode = CassetteMode(rawValue: name) else {
            let names = allCases.map(\.rawValue).joined(separator: ", ")
            throw FixtureError(.invalid("\(name.debugDescription) is none of \(names)"), path: variable)
        }
        let isInCI = !["", "0", "false"].contains(environment["CI"] ?? "")
        guard !isInCI || !mode.isRecording else { throw FixtureError(.recordingInCI) }
        return mode
    }

    /// Whether the mode writes the cassette.
    var isRecording: Bool { self == .record || self == .replayOrRecord }
}
