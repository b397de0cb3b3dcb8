// Transfers the file `arguments[3]` to or from the URL `arguments[2]`, as `arguments[1]` says, and prints a line for each
// step.

import RxNetworking
import RxTransfers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
}

let (kind, url, path) = (CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])
var configuration = ClientConfiguration()
// A server may hold a transfer until the process is killed.
configuration.options.timeouts = Timeouts(firstByte: nil, idle: nil)
let client = Client(baseURL: "", configuration: configuration)

func upload(by method: UploadMethod) async throws {
    for try await event in client.upload(.file(path), to: .post(url), by: method).values(
        buffering: .unbounded)
    {
        switch event {
        case .started(let offset): say("started \(offset)")
        case .progress(let rate): say("progress \(rate.bytes)")
        case .paused(let error, for: _): say("paused \(error.code)")
        case .resumed(let offset): say("resumed \(offset)")
        case .verified(let digest): say("verified \(digest)")
        case .finished(let response): say("finished \(response.status.code)")
        }
    }
}

func download() async throws {
    for try await event in client.download(.get(url), to: path, parts: .count(4)).values(
        buffering: .unbounded)
    {
        switch event {
        case .started(let offset, let parts): say("started \(offset) \(parts)")
        case .progress(let rate): say("progress \(rate.bytes)")
        case .paused(let error, for: _): say("paused \(error.code)")
        case .startedOver: say("over")
        case .finished(let file): say("finished \(file.size) \(file.digest.map { "\($0)" } ?? "")")
        }
    }
}

do {
    switch kind {
    case "tus": try await upload(by: .tus(creationSize: 0))
    case "draft": try await upload(by: .resumable())
    default: try await download()
    }
} catch {
    say("failed \(error)")
    exit(1)
}
