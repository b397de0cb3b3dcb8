/// The arguments of the program.
struct Options: Sendable {
    /// An argument that the program does not understand.
    struct Wrong: Error {
        let reason: String
    }

    static let usage = """
        websocket-cases [--client COMMAND] [--cases PREFIX,…] [--messages N] [--verbose]
          --client    a shell command that reads URLs, one a line, and echoes on each until it is closed; default:
                      the client of this package
          --cases     the cases whose numbers begin with these parts, such as 6.4,7; default: all
          --messages  the largest number of messages in a case, where the suite sends 1,000
          --verbose   prints each outcome as it comes
        """

    private(set) var client: String?
    /// The first parts of the numbers, such as [6, 4]; empty for all cases.
    private(set) var prefixes: [[Substring]] = []
    private(set) var messages: Int?
    private(set) var isVerbose = false

    init(_ arguments: ArraySlice<String>) throws(Wrong) {
        var rest = arguments
        while let name = rest.popFirst() {
            if name == "--verbose" {
                isVerbose = true
                continue
            }
            guard let value = rest.popFirst() else { throw Wrong(reason: "\(name) has no value") }
            switch name {
            case "--client": client = value
            case "--cases": prefixes = value.split(separator: ",").map { $0.split(separator: ".") }
            case "--messages":
                guard let count = Int(value), count > 0 else { throw Wrong(reason: "--messages \(value)") }
                messages = count
            default: throw Wrong(reason: "there is no \(name)")
            }
        }
    }

    func includes(_ number: String) -> Bool {
        prefixes.isEmpty || prefixes.contains { number.split(separator: ".").starts(with: $0) }
    }
}
