#if Inspector
import Foundation
@testable import RxInspector
import RxNetworking
import Synchronization

/// A page of headless Chromium, driven by the DevTools protocol over its remote debugging WebSocket.
final class Browser: Sendable {
    /// The program, where Debian's package `chromium` installs it.
    static let program = "/usr/bin/chromium"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

    /// A command that the browser refuses, or a script that throws.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct Contents {
        var lastID = 0
        var waiting: [Int: CheckedContinuation<JSON, any Error>] = [:]
        var problems: [String] = []
        var isClosed = false
    }

    private let process: Process
    private let folder: URL
    private let sink = WebSocketSink()
    private let contents = Mutex(Contents())
    private let subscription = Mutex<Subscription?>(nil)

    /// Starts the browser with an empty page.
    static func start(width: Int = 1440, height: Int = 900) async throws -> Browser {
        let folder = FileManager.default.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--remote-debugging-port=0", "--user-data-dir=\(folder.path)", "--window-size=\(width),\(height)",
            "about:blank",
        ]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        var port: String?
        while port == nil, process.isRunning {
            try await Task.sleep(for: .milliseconds(50))
            let text = try? String(contentsOf: folder.appending(path: "DevToolsActivePort"), encoding: .utf8)
            // The port, then the path of the browser's WebSocket.
            port = text?.split(separator: "\n").first.map(String.init)
        }
        guard let port else { throw Failure(description: "the browser has no remote debugging port") }
        let client = Client(baseURL: "http://127.0.0.1:\(port)")
        let list = JSON(parsing: try await client.get("/json/list").value().text)
        let page = list?.elements?.first { $0["type"]?.string == "page" }
        guard let path = page?["id"]?.string else { throw Failure(description: "the browser has no page") }
        let browser = Browser(process, folder)
        browser.connect(client, "/devtools/page/\(path)")
        for domain in ["Page", "Runtime", "Log", "Accessibility"] {
            try await browser.call("\(domain).enable")
        }
        return browser
    }

    private init(_ process: Process, _ folder: URL) {
        self.process = process
        self.folder = folder
    }

    /// Errors of scripts, failed assertions, and violations of the page's security policy so far.
    var problems: [String] { contents.withLock { $0.problems } }

    /// Ends the browser.
    func stop() {
        fail("the browser has been stopped")
        subscription.withLock { $0.take() }?.cancel()
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: - Commands

    @discardableResult
    func call(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await withCheckedThrowingContinuation { continuation in
            let id = contents.withLock { contents -> Int? in
                guard !contents.isClosed else { return nil }
                contents.lastID += 1
                contents.waiting[contents.lastID] = continuation
                return contents.lastID
            }
            guard let id else { return continuation.resume(throwing: Failure(description: "closed")) }
            let command: JSON = ["id": .integer(id), "method": .string(method), "params": parameters]
            sink.send(String(decoding: command.bytes, as: UTF8.self)).subscribe()
        }
    }

    /// The result of a script; that of its promise, if it is one.
    @discardableResult
    func run(_ script: String) async throws -> JSON {
        let result = try await call(
            "Runtime.evaluate",
            ["expression": .string(script), "awaitPromise": true, "returnByValue": true, "userGesture": true])
        if let details = result["exceptionDetails"] {
            throw Failure(description: String(decoding: details.bytes, as: UTF8.self))
        }
        return result["result"]?["value"] ?? .null
    }

    /// Waits in the page until an expression is true, a minute at most.
    func wait(for expression: String) async throws {
        let isTrue = try await run(
            """
            new Promise(done => {
              const end = performance.now() + 60_000;
              const check = () => {
                if (\(expression)) done(true); else if (performance.now() > end) done(false); else setTimeout(check, 30);
              };
              check();
            })
            """)
        guard isTrue == true else { throw Failure(description: "not true within a minute: \(expression)") }
    }

    func open(_ url: String) async throws {
        try await call("Page.navigate", ["url": .string(url)])
        try await wait(for: "document.readyState === 'complete' && location.href === '\(url)'")
    }

    /// Presses and releases a key.
    func press(_ key: String) async throws {
        let text = key.count == 1 ? key : ""
        let codes = [
            "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27,
        ]
        for type in ["keyDown", "keyUp"] {
            try await call(
                "Input.dispatchKeyEvent",
                [
                    "type": .string(type), "key": .string(key),
                    "text": .string(type == "keyDown" ? text : ""),
                    "windowsVirtualKeyCode": .integer(codes[key] ?? 0),
                ])
        }
    }

    /// Chooses the colours that the user prefers, as the page sees it.
    func prefer(_ scheme: String) async throws {
        try await call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": .string(scheme)]]])
    }

    /// Writes a picture of the page.
    func screenshot(to file: URL) async throws {
        let result = try await call("Page.captureScreenshot", ["format": "png"])
        guard let data = result["data"]?.string.flatMap({ Data(base64Encoded: $0) }) else {
            throw Failure(description: "no picture")
        }
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    // MARK: - Messages

    private func connect(_ client: Client, _ path: String) {
        var settings = WebSocketSettings()
        settings.messageLimit = 64 << 20
        let subscription = client.webSocket(path, sending: sink, settings: settings).subscribe(
            onNext: { [weak self] event in
                if case .text(let text) = event, let message = JSON(parsing: text) { self?.take(message) }
            }, onFailure: { [weak self] error in self?.fail("\(error)") })
        self.subscription.withLock { $0 = subscription }
    }

    private func take(_ message: JSON) {
        if let id = message["id"]?.integer {
            let waiting = contents.withLock { $0.waiting.removeValue(forKey: id) }
            if let error = message["error"]?["message"]?.string {
                waiting?.resume(throwing: Failure(description: error))
            } else {
                waiting?.resume(returning: message["result"] ?? [:])
            }
        }
        let details =
            switch message["method"]?.string {
            case "Runtime.exceptionThrown": message["params"]?["exceptionDetails"]
            case "Log.entryAdded" where message["params"]?["entry"]?["level"]?.string == "error":
                message["params"]?["entry"]
            case "Runtime.consoleAPICalled"
            where ["assert", "error"].contains(message["params"]?["type"]?.string):
                message["params"]?["args"]
            default: nil as JSON?
            }
        if let details {
            contents.withLock { $0.problems.append(String(decoding: details.bytes, as: UTF8.self)) }
        }
    }

    private func fail(_ reason: String) {
        let waiting = contents.withLock { contents in
            contents.isClosed = true
            defer { contents.waiting = [:] }
            return contents.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: Failure(description: reason)) }
    }
}
#endif
