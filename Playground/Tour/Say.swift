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

/// The columns of the terminal: 40 to 120, and 80 where the output is none.
let terminalColumns: Int = {
    var size = winsize()
    let isTerminal = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isTerminal ? min(max(Int(size.ws_col), 40), 120) : 80
}()

/// Text with a prefix, broken at spaces where it exceeds the terminal. Further lines are indented by the width of the
/// prefix. Words longer than a line are not broken.
func wrapped(_ text: String, after prefix: String, columns: Int = terminalColumns) -> String {
    let indent = String(repeating: " ", count: prefix.count)
    var lines = [prefix]
    var isFirstWord = true
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
        if !isFirstWord, lines[lines.count - 1].count + 1 + word.count > columns {
            lines.append(indent)
            isFirstWord = true
        }
        lines[lines.count - 1] += isFirstWord ? String(word) : " \(word)"
        isFirstWord = false
    }
    return lines.joined(separator: "\n")
}
