// Transfers the file `arguments[3]` to or from the URL `arguments[2]`, as `arguments[1]` says: draft, tus, s3 or download.
// Prints a line for each step. Options follow as NAME=VALUE:
//
//   parts=N         the parts of a download, or the requests at a time of S3 (default 4)
//   partSize=N      the most content of one request, in bytes
//   digest=none     no digest of the whole
//   sha256=HEX      the digest that a download must have
//   retries=N       the failures in a row (default 5), with waits of 100 ms
//   key=KEY:SECRET  the credential of S3

import RxAuth
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
let settings = Dictionary(
    CommandLine.arguments.dropFirst(4).map { argument in
        let pair = argument.split(separator: "=", maxSplits: 1)
        return (String(pair[0]), pair.count > 1 ? String(pair[1]) : "")
    }, uniquingKeysWith: { $1 })

func number(_ name: String) -> Int? { settings[name].flatMap { Int($0) } }

var configuration = ClientConfiguration()
// A server may hold a transfer until the process is killed.
configuration.options.timeouts = Timeouts(firstByte: nil, idle: nil)
// "http://host:port" of the URL, whose requests are signed.
let origin = url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//")
#if Auth
if let key = settings["key"]?.split(separator: ":").map(String.init), key.count == 2 {
    configuration.signer = AWSSigner(
        service: "s3", region: "us-east-1", credentials: .keys(id: key[0], secret: key[1]))
}
#endif
let client = Client(baseURL: origin, configuration: configuration)

let retries = number("retries") ?? 5
let backoff: Backoff = number("retries") == nil ? .fullJitter() : .constant(.milliseconds(100))

var upload: UploadMethod.Options {
    var options = UploadMethod.Options()
    options.partSize = number("partSize").map(Int64.init)
    if settings["digest"] == "none" { options.digest = .none }
    (options.retries, options.backoff) = (retries, backoff)
    return options
}

func send(by method: UploadMethod, _ verb: HTTPRequest.Method = .post) async throws {
    let endpoint = InlineEndpoint(verb, String(url.dropFirst(origin.utf8.count)))
    for try await event in client.upload(.file(path), to: endpoint, by: method).values(
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

func fetch() async throws {
    var options = PartedDownload.Options()
    options.digest = settings["sha256"].flatMap { TransferDigest(.sha256, hexadecimal: $0) }
    (options.retries, options.backoff) = (retries, backoff)
    let download = client.download(
        .get(url), to: path, parts: .count(number("parts") ?? 4), options: options)
    for try await event in download.values(buffering: .unbounded) {
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
    case "tus":
        // tuspyserver tells the offset only of uploads with both.
        let metadata = ["filename": "film", "filetype": "video/mp4"]
        try await send(by: .tus(metadata: metadata, creationSize: 0, options: upload))
    case "draft": try await send(by: .resumable(options: upload))
    case "s3": try await send(by: .multipart(concurrency: number("parts") ?? 4, options: upload), .put)
    default: try await fetch()
    }
} catch {
    say("failed \(error)")
    exit(1)
}
