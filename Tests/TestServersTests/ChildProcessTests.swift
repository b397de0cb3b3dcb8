import Testing

@testable import TestServers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite(.timeLimit(.minutes(1)))
struct ChildProcessTests {
    @Test func readsLinesAndBothOutputsUpToTheEnd() async throws {
        let child = try ChildProcess(
            "/bin/sh", ["-c", "read -r a; echo \"$a\"; echo; cat; echo \"$X\" >&2; exit 3"],
            environment: ["PATH": "/usr/bin:/bin", "X": "y"])
        try child.write("one\n")
        #expect(try await child.nextLine() == "one")
        #expect(try await child.nextLine() == "")
        // More than a pipe holds.
        let long = String(repeating: "z", count: 300_000)
        try child.write(long + "\nrest")
        child.closeInput()
        #expect(try await child.nextLine()?.count == long.count)
        #expect(try await child.nextLine() == "rest")
        #expect(try await child.nextLine() == nil)
        let record = try await child.ended()
        #expect(record.ending == .exited(3))
        #expect(record.errorText == "y\n")
    }

    @Test(.timeLimit(.minutes(1))) func killingTakesWhatItStartedWithIt() async throws {
        let child = try ChildProcess("/bin/sh", ["-c", "cat <&0 & echo up; cat"])
        #expect(try await child.nextLine() == "up")
        // Ends only when no process has the pipes any more.
        #expect(try await child.kill().ending == .signalled(9))
        #expect(try await child.kill().ending == .signalled(9))
        // A program that another test starts at the moment has all descriptors until it runs.
        while (try? child.write("x")) != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(throws: SystemError.self) { try child.write("x") }
    }

    /// Sockets of servers in this process may have been opened without `FD_CLOEXEC`.
    @Test func itHasNoOtherDescriptors() async throws {
        let pair = try SocketPair()
        let inheritable = fcntl(pair.first.raw, F_DUPFD, 100)
        #expect(inheritable >= 100)
        defer { close(inheritable) }
        let child = try ChildProcess(
            "/bin/sh",
            ["-c", "for n in 0 1 2 \(inheritable); do [ -e /dev/fd/$n ] && echo $n; done; exit 0"])
        #expect(try await child.ended().text == "0\n1\n2\n")
    }

    @Test func aProgramThatIsNotThereIsAnError() {
        #expect(throws: SystemError.self) { try ChildProcess("/none") }
    }

    @Test func foldersGoWithTheirOwner() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(try folder?.file("a", [1]))
        #expect(try folder?.names == ["a"])
        folder = nil
        #expect(throws: SystemError.self) { try ChildProcess(path) }
    }
}
