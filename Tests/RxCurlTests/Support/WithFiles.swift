import RxCurl
import RxLoop
import TestServers

/// Gives `body` files on a loop of their own and ends the loop afterwards, which stops the process unless
/// everything on it has been closed.
func withFiles<Result>(_ body: (LoopFileSystem, TemporaryFolder) async throws -> Result) async throws
    -> Result
{
    let loop = EventLoop(name: "files")
    defer { loop.shutDown() }
    return try await body(LoopFileSystem(loop: loop), TemporaryFolder())
}
