#if Fleet
import RxHTTP
import RxLite
import RxSQLite
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The thread of a file store. It sleeps until there is work, another process rings, or something is due.
final class FileStoreThread: Sendable {
    /// A piece of work.
    private struct Work: Sendable {
        let run: @Sendable (inout FileStoreState) -> Void
        /// Called instead if there is no thread.
        let refuse: @Sendable (NetworkError) -> Void
    }

    private struct Queue {
        var waiting: [Work] = []
        var isRunning = false
        var isStopping = false
        /// The pipe that ends the sleep: the reading end, and the writing end.
        var pipe: (CInt, CInt)?
    }

    private let queue = Mutex(Queue())
    private let state: Mutex<FileStoreState>
    private let clock: StoreClock

    init(_ state: sending FileStoreState, _ clock: StoreClock) {
        self.state = Mutex(state)
        self.clock = clock
    }

    deinit {
        if let pipe = queue.withLock({ $0.pipe }) {
            close(pipe.0)
            close(pipe.1)
        }
    }

    /// Adds work. Returns at once.
    func run(
        _ run: @escaping @Sendable (inout FileStoreState) -> Void,
        refuse: @escaping @Sendable (NetworkError) -> Void
    ) {
        let (needsThread, failure) = queue.withLock { queue -> (Bool, NetworkError?) in
            if queue.pipe == nil {
                guard let pipe = Self.makePipe() else {
                    return (false, Self.resources("no pipe could be created for the file store", errno))
                }
                queue.pipe = pipe
            }
            queue.waiting.append(Work(run: run, refuse: refuse))
            defer { queue.isRunning = true }
            return (!queue.isRunning, nil)
        }
        if let failure { return refuse(failure) }
        guard needsThread else { return wake() }
        let code = DetachedThread.start { self.loop() }
        guard code != 0 else { return }
        let refused = queue.withLock { queue in
            defer { (queue.waiting, queue.isRunning) = ([], false) }
            return queue.waiting
        }
        let error = Self.resources("no thread could be created for the file store", code)
        for work in refused { work.refuse(error) }
    }

    /// Ends the thread once the work that was added is done. The leases are returned, and the files closed.
    func stop() {
        queue.withLock { $0.isStopping = true }
        wake()
    }

    /// Ends the sleep of the thread.
    func wake() {
        queue.withLock { queue in
            // Full means that it is awake.
            if let pipe = queue.pipe { _ = unsafe write(pipe.1, [1 as UInt8], 1) }
        }
    }

    private static func resources(_ text: String, _ code: CInt) -> NetworkError {
        var error = NetworkError(.resources, text)
        error.systemError = Int(code)
        return error
    }

    private static func makePipe() -> (CInt, CInt)? {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }

    private func loop() {
        var news = FolderWatch.News()
        while true {
            let (work, isStopping) = queue.withLock { queue in
                defer { queue.waiting = [] }
                return (queue.waiting, queue.isStopping && queue.waiting.isEmpty)
            }
            let (reports, isUnsettled) = state.withLock { state in
                for piece in work { piece.run(&state) }
                if isStopping { state.close() } else { state.serve(news) }
                return (state.takeReports(), state.isUnsettled)
            }
            // Without the lock: reports may subscribe, and end subscriptions. Those of entries that must last come
            // after the disk has them.
            for report in reports { report() }
            if isUnsettled {
                let reports = state.withLock { state in
                    state.settle()
                    return state.takeReports()
                }
                for report in reports { report() }
            }
            if isStopping {
                // Work may have been added meanwhile, by the reports.
                let isOver = queue.withLock { queue in
                    queue.isRunning = !queue.waiting.isEmpty
                    return queue.waiting.isEmpty
                }
                if isOver { return }
                continue
            }
            let (deadline, watch) = state.withLock { ($0.deadline, $0.watch) }
            news = sleep(until: deadline, watch)
        }
    }

    private func sleep(until deadline: Duration?, _ watch: FolderWatch?) -> FolderWatch.News {
        let pipe = queue.withLock { $0.pipe?.0 ?? -1 }
        var timeout: CInt = -1
        if let deadline {
            let rest = deadline - clock.now()
            if rest <= .zero {
                timeout = 0
            } else if !clock.isSteered {
                // Up to an hour, and never before the time.
                timeout = CInt(min((rest / .milliseconds(1)).rounded(.up), 3_600_000))
            }
        }
        var descriptors = [pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)]
        if let watch { descriptors.append(pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)) }
        _ = unsafe poll(&descriptors, nfds_t(descriptors.count), timeout)
        if descriptors[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while unsafe read(pipe, &bytes, bytes.count) == bytes.count {}
        }
        guard let watch, descriptors[1].revents != 0 else { return FolderWatch.News() }
        return watch.read()
    }
}
#endif
