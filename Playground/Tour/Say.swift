import Foundation

/// Writes a line immediately, even to a pipe. Ends the process if the reader of the pipe has gone.
func say(_ line: String) {
    write(line + "\n", to: .standardOutput)
}

/// Writes text unchanged. The first event loop makes the process ignore `SIGPIPE`, so a pipe whose reader has gone
/// is an error here; the process then ends with the status that a shell gives that signal, 128 + 13.
func write(_ text: String, to file: FileHandle) {
    do {
        try file.write(contentsOf: Data(text.utf8))
    } catch {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
        if cause.domain == NSPOSIXErrorDomain, cause.code == Int(EPIPE) { exit(141) }
        try? FileHandle.standardError.write(contentsOf: Data("\(error.localizedDescription)\n".utf8))
        exit(1)
    }
}
