import Foundation
import HTTPTypes
import RxHTTP
import TestServers
import Testing

/// The command, as a shell parses it.
@Suite struct CurlCommandTests {
    /// The input of `curl`: its arguments, and its standard input.
    private func run(_ command: String) async throws -> (arguments: [String], input: [UInt8]) {
        let folder = try TemporaryFolder()
        // A function of that name, so that the test sees the shell's result.
        let function = "curl() { printf '%s\\0' \"$@\" > arguments; cat > input; }\n"
        let shell = try ChildProcess(
            "/bin/sh", ["-c", "cd \"$FOLDER\" || exit 1\n" + function + command],
            environment: ["PATH": "/usr/bin:/bin", "FOLDER": folder.path])
        shell.closeInput()
        #expect(try await shell.ended().ending == .exited(0))
        #expect(try folder.names == ["arguments", "input"], "the command did something else")
        return (
            try folder.content("arguments").split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) },
            try folder.content("input")
        )
    }

    private static let hostile = [
        "plain", "it's", "''", "'; touch evil; '", "$(touch evil)", "`touch evil`", "a\nb", "\\", "\\'", "!!",
        "*",
        "a && touch evil", "\"", "%s%n\\000", "-o evil", "@evil", "…é🍵", " a  b ", "$HOME", "#", "~",
        "\u{1}\t",
    ]

    @Test(arguments: hostile)
    func aBodyIsOneWord(text: String) async throws {
        let request = Request(
            method: .post, url: try #require(URL(string: "https://a.test/x")),
            headerFields: [.contentType: "text/plain"], body: .text(text))
        let (arguments, _) = try await run(request.curlCommand())
        let place = try #require(arguments.firstIndex(of: "--data-raw"))
        #expect(arguments[place + 1] == text)
        #expect(arguments.suffix(2) == ["--url", "https://a.test/x"])
    }

    @Test func theOptionForCodingsIsTheRequests() async throws {
        var request = Request(url: try #require(URL(string: "https://a.test/x")))
        #expect(try await run(request.curlCommand()).arguments.contains("--compressed"))
        request.decodesContent = false
        #expect(try await !run(request.curlCommand()).arguments.contains("--compressed"))
        request.decodesContent = true
        request.headerFields[.range] = "bytes=0-9"
        #expect(try await !run(request.curlCommand()).arguments.contains("--compressed"))
    }

    @Test(arguments: hostile.filter { HTTPField.isValidValue($0) })
    func aFieldIsOneWord(value: String) async throws {
        var request = Request(url: try #require(URL(string: "https://a.test/x")))
        request.headerFields[try #require(HTTPField.Name("X-A'b"))] = value
        let (arguments, _) = try await run(request.curlCommand())
        let place = try #require(arguments.firstIndex(of: "--header"))
        #expect(arguments[place + 1] == "X-A'b: \(value)")
    }

    @Test(arguments: ["/'x'", "/$(touch%20evil)", "/a?b=[1-9]&c={d,e}&f=`g`", "/../x", "/;touch", "/?&&#'"])
    func aURLIsOneWord(path: String) async throws {
        let request = Request(url: try #require(URL(string: "https://a.test" + path)))
        let (arguments, _) = try await run(request.curlCommand())
        #expect(arguments.suffix(2) == ["--url", request.url.absoluteString])
        #expect(arguments.contains("--globoff") && arguments.contains("--path-as-is"))
    }

    @Test(arguments: [[0], [0, 1, 2, 255], Array(UInt8.min...UInt8.max), Array("%s\\n'\0".utf8)])
    func aBodyThatIsNoTextIsPipedIn(bytes: [UInt8]) async throws {
        let request = Request(
            method: .put, url: try #require(URL(string: "https://a.test")), body: .bytes(bytes))
        let (arguments, input) = try await run(request.curlCommand())
        #expect(arguments.contains("--data-binary") && arguments.contains("@-"))
        #expect(input == bytes)
    }

    @Test func aBodyThatIsTooLongIsNotInIt() async throws {
        let url = try #require(URL(string: "https://a.test"))
        let request = Request(method: .post, url: url, body: .bytes(Array(repeating: 0x27, count: 1 << 20)))
        #expect(request.curlCommand().utf8.count < 300)
        #expect(request.curlCommand().contains("--data-binary @-"))
        // The longest argument in it is still short enough for a program.
        let longest = Request(method: .post, url: url, body: .bytes(Array(repeating: 0x61, count: 64 << 10)))
        #expect(try await run(longest.curlCommand()).arguments.contains { $0.utf8.count == 64 << 10 })
    }

    @Test(
        arguments: [
            (.get, .empty, [] as [String], ["--request", "--data-raw"]),
            (.head, .empty, ["--head"], ["--request"]),
            (.post, .empty, ["--request", "POST", "--data-raw", ""], []),
            (.delete, .empty, ["--request", "DELETE"], ["--data-raw"]),
            (.get, .text("q"), ["--request", "GET", "--data-raw", "q"], []),
            (.init("LOCK!")!, .empty, ["--request", "LOCK!"], []),
        ] as [(HTTPRequest.Method, Body, [String], [String])])
    func methods(method: HTTPRequest.Method, body: Body, present: [String], absent: [String]) async throws {
        let request = Request(method: method, url: try #require(URL(string: "https://a.test")), body: body)
        let (arguments, _) = try await run(request.curlCommand())
        #expect(present.allSatisfy(arguments.contains))
        #expect(!absent.contains { arguments.contains($0) })
        // Otherwise curl would declare it a form.
        #expect(arguments.contains("Content-Type:") == arguments.contains("--data-raw"))
    }

    @Test func emptyFieldsAreSent() async throws {
        var request = Request(url: try #require(URL(string: "https://a.test")))
        request.headerFields[.accept] = ""
        #expect(try await run(request.curlCommand()).arguments.contains("Accept;"))
    }

    @Test func secretsAreShownOnRequestOnly() async throws {
        var request = Request(
            method: .post, url: try #require(URL(string: "https://ann:pw7@a.test/?token=t7&a=b")),
            headerFields: [.authorization: "Bearer c7", .contentType: "application/json"],
            body: .text(#"{"password": "p7"}"#))
        request.secretFields = [.userAgent]
        request.headerFields[.userAgent] = "u7"
        let hidden = request.curlCommand()
        for secret in ["pw7", "t7", "c7", "p7", "u7", "ann"] { #expect(!hidden.contains(secret)) }
        #expect(hidden.contains("a=b"))
        let (arguments, _) = try await run(request.curlCommand(showingSecrets: true))
        for word in [
            "Authorization: Bearer c7", "User-Agent: u7", #"{"password": "p7"}"#,
            "https://ann:pw7@a.test/?token=t7&a=b",
        ] {
            #expect(arguments.contains(word))
        }
    }
}
