#if Auth
import FoundationEssentials
import TestServers
import Testing

/// The packages of others that sign and verify requests, by `Tests/Services/signatures.py`.
enum SigningReference {
    /// Runs a command of the script.
    static func run<Answer: Decodable>(_ command: String, _ input: some Encodable) async throws -> Answer {
        let folder = try TemporaryFolder()
        let source = try folder.file("input.json", Array(JSONEncoder().encode(input)))
        let process = try ChildProcess(
            Service.program("python"),
            [Service.files + "/signatures.py", command, source, folder.file("output.json")])
        let record = try await process.ended()
        try #require(record.ending == .exited(0), "\(record.errorText)")
        return try JSONDecoder().decode(Answer.self, from: Data(folder.content("output.json")))
    }

    /// A header field, as the script reads and writes it.
    struct Field: Codable, Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        init(from decoder: any Decoder) throws {
            var pair = try decoder.unkeyedContainer()
            (name, value) = (try pair.decode(String.self), try pair.decode(String.self))
        }

        func encode(to encoder: any Encoder) throws {
            var pair = encoder.unkeyedContainer()
            try pair.encode(name)
            try pair.encode(value)
        }
    }
}

extension [SigningReference.Field] {
    /// The value of a field, by its name in any case.
    subscript(name: String) -> String? { first { $0.name.lowercased() == name.lowercased() }?.value }
}
#endif
