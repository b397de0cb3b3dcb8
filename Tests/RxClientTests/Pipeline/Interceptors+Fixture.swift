import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// An interceptor made of a closure.
struct Intercepting: Interceptor {
    let body: @Sendable (Request, CallContext, Next) -> Observable<CallEvent, NetworkError>

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> { body(request, call, next) }
}

/// Adds a header field.
struct Adding: Interceptor {
    let name: String

    init(_ name: String) { self.name = name }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        var request = request
        if let name = HTTPField.Name(name) { request.headerFields[name] = "yes" }
        return next(request)
    }
}

/// Records each request, and the resulting head or error.
struct Noting: Interceptor {
    let name: String
    let notes: Notes

    init(_ name: String, _ notes: Notes) {
        self.name = name
        self.notes = notes
    }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        notes.add("\(name) \(request.method) \(request.url.path())")
        return next(request).handleEvents(
            onNext: { if let head = $0.head { notes.add("\(name) \(head.status.code)") } },
            onEnd: { if case .failed(let error) = $0 { notes.add("\(name) \(error.code.rawValue)") } })
    }
}

/// Lines in order.
final class Notes: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
