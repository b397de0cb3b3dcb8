import Foundation
import HTTPCases
import RxNetworking
import Synchronization

// The echo and the idle connections of Reference/websocket.c, with RxNetworking.

let arguments = WebSocketArguments()
var configuration = CurlTransport.Configuration()
configuration.proxy = .none
configuration.maxConnections = nil
configuration.maxConnectionsPerOrigin = nil
let loop = EventLoop(name: "websocket")
let transport = CurlTransport(loop: loop, configuration: configuration)
let client = Client(baseURL: "http://127.0.0.1:\(arguments.port)", transport: transport)
var settings = WebSocketSettings()
settings.compression = .off

let open = Atomic(0)
let received = Atomic(0)
let subscriptions = Mutex<[Subscription]>([])
let before = try residentKiB()
let payload = [UInt8](repeating: UInt8(ascii: "x"), count: arguments.echo?.size ?? 0)
let total = arguments.echo?.messages ?? 0
let sent = Atomic(0)
let done = DispatchSemaphore(value: 0)
let sinks = (0..<arguments.connections).map { _ in WebSocketSink() }

@Sendable func sendNext(_ sink: WebSocketSink) {
    guard sent.add(1, ordering: .relaxed).oldValue < total else { return }
    sink.send(.binary(payload)).subscribe()
}

for sink in sinks {
    let subscription = client.webSocket("/", sending: sink, settings: settings).subscribe(
        onNext: { event in
            switch event {
            case .opened: open.add(1, ordering: .relaxed)
            case .binary(let bytes):
                precondition(bytes.count == payload.count)
                if received.add(1, ordering: .relaxed).newValue == total { done.signal() }
                sendNext(sink)
            default: break
            }
        },
        onFailure: { error in
            print(error)
            exit(1)
        })
    subscriptions.withLock { $0.append(subscription) }
}
while open.load(ordering: .relaxed) < arguments.connections { usleep(1000) }
if arguments.echo == nil {
    usleep(200_000)
    print("{\"connections\":\(arguments.connections),\"kib\":\(try residentKiB() - before)}")
    exit(0)
}
let start = Date()
let cpu = Usage().cpuSeconds
for sink in sinks { sendNext(sink) }
done.wait()
printEcho(messages: total, seconds: -start.timeIntervalSinceNow, cpu: Usage().cpuSeconds - cpu)
exit(0)
