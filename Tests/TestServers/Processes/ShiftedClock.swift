import FoundationEssentials

/// The date of a program, which a test can set at any time (libfaketime). Times that nobody can set, such as that since the
/// start of the machine, stay as they are.
public final class ShiftedClock: Sendable {
    private static let libraries = [
        "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    ]

    private static var library: String? {
        libraries.first { FileManager.default.fileExists(atPath: $0) }
    }

    /// Whether the library is there. `Tests/fleet.sh` installs it.
    public static var isInstalled: Bool { library != nil }

    private let folder: TemporaryFolder

    /// Creates a clock that shows the date.
    public init() throws {
        folder = try TemporaryFolder()
        try shift(by: 0)
    }

    /// The variables of a program that has this clock; none if the library is missing.
    public var environment: [String: String] {
        guard let library = Self.library else { return [:] }
        return [
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": folder.file("offset"), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }

    /// Sets the clock to so many seconds after the date, or before it.
    public func shift(by seconds: Int) throws {
        let text = "\(seconds < 0 ? "" : "+")\(seconds)s\n"
        // Atomic, so that a program never reads half of it.
        try Data(text.utf8).write(to: URL(filePath: folder.file("offset")), options: .atomic)
    }
}
