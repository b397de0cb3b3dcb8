import FoundationEssentials
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A program in a separate process, whose input can be written and whose output is recorded.
///
/// A separate thread reads the output, so waiting for it blocks no other thread. The process is killed when
/// the object is released.
public final class ChildProcess: Sendable {
    /// How a process ended.
    public enum Ending: Equatable, Sendable {
        /// The process exited with this status.
        case exited(CInt)
        /// This signal ended the process.
        case signalled(CInt)
    }

    /// The output and the end of a process so far.
    public struct Record: Sendable {
        /// The bytes of its standard output.
        public internal(set) var output: [UInt8] = []
        /// The bytes of its standard error.
        public internal(set) var errors: [UInt8] = []
        /// How it ended, once it has; after that nothing more is added.
        public internal(set) var ending: Ending?

        /// ``output`` as text.
        public var text: String { String(decoding: output, as: UTF8.self) }
        /// ``errors`` as text.
        public var errorText: String { String(decoding: errors, as: UTF8.self) }
    }

    private let input: Mutex<Descriptor?>
    private let reading: ChildReading
    /// The position where the next line begins.
    private let position = Mutex(0)

    /// Starts the program at `path`, by default with the environment of this process.
    public init(
        _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil
    ) throws(SystemError) {
        let pair = try SocketPair()
        let output = try Pipe()
        let errors = try Pipe()
        let id = try spawn(
            [path] + arguments, environment: environment ?? ProcessInfo.processInfo.environment,
            descriptors: [(pair.second.raw, 0), (output.writing.raw, 1), (errors.writing.raw, 2)])
        input = Mutex(pair.first)
        reading = ChildReading(id, output: output.reading, errors: errors.reading)
        let reading = reading
        _ = try JoinableThread { reading.run() }
    }

    deinit { reading.kill() }

    /// The path of a program of this package, which is in the same folder as the test program.
    public static func product(_ name: String) -> String {
        let tests = CommandLine.arguments[0]
        return tests.lastIndex(of: "/").map { tests[...$0] + name } ?? name
    }

    /// Starts a program of this package in an environment that has nothing of this process's but the folder of a libcurl
    /// apart from the system's (`LD_LIBRARY_PATH`), which it is linked with.
    public static func isolated(
        _ product: String, _ arguments: [String]
    ) throws(SystemError) -> ChildProcess {
        var environment = ["PATH": "/usr/bin", "no_proxy": "*"]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        return try ChildProcess(self.product(product), arguments, environment: environment)
    }

    /// Writes text to its input; waits if the process is slow to read it. Throws if the process has ended
    /// without reading everything, or after ``closeInput()``.
    public func write(_ text: String) throws(SystemError) {
        try input.withLock { input throws(SystemError) in
            guard let raw = input?.raw else { throw SystemError("write", code: EBADF) }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(raw, $0.baseAddress, $0.count) }
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    throw SystemError("send")
                }
            }
        }
    }

    /// Closes its input.
    public func closeInput() { input.withLock { $0 = nil } }

    /// The next line of its output, without the line feed; `nil` at the end. The rest after the last line
    /// feed counts as a line if it is not empty.
    public func nextLine() async throws -> String? {
        let start = position.withLock { $0 }
        let line = try await reading.board.until { record -> ArraySlice<UInt8>? in
            let rest = record.output[start...]
            if let end = rest.firstIndex(of: 0x0A) { return rest[...end] }
            return record.ending == nil ? nil : rest
        }
        position.withLock { $0 = line.endIndex }
        guard !line.isEmpty else { return nil }
        return String(decoding: line.last == 0x0A ? line.dropLast() : line, as: UTF8.self)
    }

    /// Waits until the process and its output have ended.
    public func ended() async throws -> Record {
        try await reading.board.until { $0.ending == nil ? nil : $0 }
    }

    /// Stops the process and its children (SIGSTOP) until ``resume()``. Returns when it does not run any more.
    public func stop() { reading.stop() }

    /// Lets a stopped process run again (SIGCONT).
    public func resume() { reading.send(SIGCONT) }

    /// Kills the process and its children immediately (SIGKILL), and waits for its end.
    @discardableResult
    public func kill() async throws -> Record {
        reading.kill()
        return try await ended()
    }
}
