import RxNetworking
import TestServers

/// Echoes every message of a case with the client of this package.
func echo(port: UInt16, number: Int) async {
    let client = Client(baseURL: "http://127.0.0.1:\(port)")
    let sink = WebSocketSink()
    let echoes = client.webSocket(AutobahnServer.path(of: number), sending: sink).messages()
        .flatMap(.concat) { sink.send($0) }
    do {
        for try await _ in echoes {}
    } catch {
        // Most cases end with an error. The server judges it by what it has observed.
    }
}
