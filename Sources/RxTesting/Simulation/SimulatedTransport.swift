import RxHTTP
import RxLite

/// The transport of a simulated process.
final class SimulatedTransport: Transport {
    let scheduler: any Scheduler
    private let simulation: Simulation
    private let process: String
    let files: any FileSystem
    private let own: ProcessScheduler

    init(
        _ simulation: Simulation, process: String, _ files: any FileSystem, on scheduler: ProcessScheduler
    ) {
        self.simulation = simulation
        self.process = process
        self.files = files
        self.scheduler = scheduler
        own = scheduler
    }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        Observable(scheduler: scheduler) { [self] observer in
            // A killed process sends nothing, even if the end of one of its calls lets another go on.
            guard observer.scope.isOpen else { return }
            guard own.isAlive else {
                return own.whenOver { observer.scope.enter { observer.end(.failed(.ofKilledProcess)) } }
            }
            SimulatedCall(request, of: process, in: simulation, files, on: own, to: observer).start()
        }
    }
}

extension NetworkError {
    /// Ends the streams of a killed process when the run is over. A login that several callers share, for example, ends
    /// only with its response, and would stay in memory.
    static var ofKilledProcess: NetworkError { NetworkError(.cancelled, "the process was killed") }
}
