// Downloads `arguments[1]` to the file `arguments[2]` and prints a line for each step.

import RxNetworking

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
}

let (url, path) = (CommandLine.arguments[1], CommandLine.arguments[2])
var configuration = ClientConfiguration()
configuration.options.retry = .never
let client = Client(baseURL: "", configuration: configuration)
do {
    for try await event in client.download(.get(url), to: path).values(buffering: .unbounded) {
        switch event {
        case .progress(let progress): say("progress \(progress.bytes)")
        case .finished(let file): say("finished \(file.size) \(file.resumedFrom)")
        }
    }
} catch {
    say("failed \(error)")
    exit(1)
}
