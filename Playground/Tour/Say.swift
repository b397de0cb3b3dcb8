import Foundation

/// Writes a line at once, also where the output is a pipe. Ends the process where nobody reads it any more.
func say(_ line: String) {
    write(line + "\n", to: .standardOutput)
}

/// Writes text as it is. The first event loop makes the process ignore `SIGPIPE`, so that a pipe whose reader
/// has gone is an error here; the process then ends with what a shell makes of that signal, 128 + 13.
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
