import RxCurl
import RxLoop
import TestServers

/// Runs `body` with files on a separate loop and ends the loop afterwards, which stops the process unless
/// every handle has been closed.
func withFiles<Result>(_ body: (LoopFileSystem, TemporaryFolder) async throws -> Result) async throws
    -> Result
{
    let loop = EventLoop(name: "files")
    defer { loop.shutDown() }
    return try await body(LoopFileSystem(loop: loop), TemporaryFolder())
}
