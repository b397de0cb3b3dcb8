import Foundation
import RxNetworking

/// A progress as one line: `kettle.png  [######......]  50 %  1.0 of 2.0 MB`.
struct ProgressBar: Sendable {
    let label: String
    var progress = TransferProgress(bytes: 0)

    private static let width = 24

    /// The line, with a milestone at each quarter.
    var row: Panel.Row {
        let fraction = progress.fraction ?? 0
        let full = Int(fraction * Double(Self.width))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.width - full)
        let expected = progress.expected.map { String(format: " of %.1f", Double($0) / 1e6) } ?? ""
        let name = label.padding(toLength: 14, withPad: " ", startingAt: 0)
        let numbers = String(
            format: "%3d %%  %.1f\(expected) MB", Int(fraction * 100), Double(progress.bytes) / 1e6)
        return Panel.Row(text: "\(name) [\(bar)] \(numbers)", milestone: Int(fraction * 4))
    }
}
