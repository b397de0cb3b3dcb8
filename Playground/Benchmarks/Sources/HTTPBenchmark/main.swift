import Foundation
import HTTPCases
import RxNetworking
import Synchronization

do {
    let arguments = try Arguments(program: "HTTPBenchmark")
    var configuration = CurlTransport.Configuration()
    configuration.tls.caBundlePath = arguments.caBundle
    if arguments.kind == .http2 { configuration.httpVersion = .http2 }
    if arguments.kind == .waiting {
        configuration.maxConnectionsPerOrigin = nil
        configuration.maxConnections = nil
        configuration.promptConnectionsPerOrigin = nil
    }
    let transport = CurlTransport(loop: .shared, configuration: configuration)
    let measurement = Measurement()
    let exchange = try Exchange(arguments, over: transport)
    let end = DispatchSemaphore(value: 0)
    let failure = Mutex<NetworkError?>(nil)
    Observable<Int, NetworkError>.sequence(0..<arguments.count)
        .flatMap(.merge(limit: arguments.inFlight)) { _ in exchange.bytes }
        // On the transport's loop, as in the C program.
        .subscribe(on: transport.scheduler)
        .subscribe(
            onNext: { measurement.add(bytes: $0) },
            onEnd: { completion in
                if case .failed(let error) = completion { failure.withLock { $0 = error } }
                end.signal()
            })
    end.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    measurement.report()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
