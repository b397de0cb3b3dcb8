import Synchronization

extension Signal {
    /// Shows the values of this signal on the inspector's page, as a line of marbles with this name, with or without
    /// subscribers.
    ///
    /// ```swift
    /// let reload = Signal<Void>().inspected("reload")
    /// ```
    ///
    /// Without an inspector in the process this does nothing until one is started. The signal keeps `showing`, which
    /// therefore must not capture the signal's owner strongly. The parameters are those of
    /// ``Observable/inspected(_:showing:fileID:line:)``.
    ///
    /// - Returns: this signal.
    @discardableResult
    public func inspected(
        _ name: String, showing: (@Sendable (Element) -> String)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Signal {
        multicaster.inspect(.signal, name, "\(fileID):\(line)", showing)
        return self
    }
}

extension MutableProperty {
    /// Shows the value of this property and its changes on the inspector's page, as a line of marbles with this name,
    /// with or without subscribers.
    ///
    /// ```swift
    /// let cart = MutableProperty<[Goods]>([]).inspected("cart") { "\($0.count) goods" }
    /// ```
    ///
    /// Without an inspector in the process this does nothing until one is started. The property keeps `showing`, which
    /// therefore must not capture the property's owner strongly. The parameters are those of
    /// ``Observable/inspected(_:showing:fileID:line:)``.
    ///
    /// - Returns: this property.
    @discardableResult
    public func inspected(
        _ name: String, showing: (@Sendable (Value) -> String)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> MutableProperty {
        multicaster.inspect(.property, name, "\(fileID):\(line)", showing) { [weak self] in
            guard let value = self?.value else { return nil }
            return showing.map { $0(value) } ?? ShortText.of(value)
        }
        return self
    }
}

extension Property {
    /// Shows the value and its changes on the inspector's page, as
    /// ``MutableProperty/inspected(_:showing:fileID:line:)`` does.
    ///
    /// ```swift
    /// client.activity.count.inspected("running requests")
    /// ```
    ///
    /// - Returns: this property.
    @discardableResult
    public func inspected(
        _ name: String, showing: (@Sendable (Value) -> String)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Property {
        self.name(name, showing, fileID, line)
        return self
    }
}

extension Multicaster {
    /// Begins a track for the values as soon as there is an inspector, after those that are being delivered. Does
    /// nothing for further names.
    ///
    /// - Parameter location: the form is that of ``StreamTrack/Origin/location``.
    func inspect(
        _ kind: StreamTrack.Kind, _ name: String, _ location: String,
        _ showing: (@Sendable (Element) -> String)?, currentText: @escaping @Sendable () -> String? = { nil }
    ) {
        let begin = { @Sendable (isLate: Bool) -> StreamProbe<Element>? in
            let origin = StreamTrack.Origin(
                name: name, kind: kind, element: "\(Element.self)", location: location)
            return StreamLog.shared.begin(origin, isLate: isLate, currentText: currentText).map {
                StreamProbe($0, showing: showing)
            }
        }
        #if Inspector
        if !StreamLog.isAttached {
            // First, because an inspector that attaches meanwhile calls `beginTrack()`, which needs it.
            lane.enter { if self.probe == nil, self.lateProbe == nil { self.lateProbe = begin } }
            if StreamLog.shared.waiting.add(self) { return }
        }
        #else
        // In packages that are built without an inspector, there will be none.
        guard StreamLog.isAttached else { return }
        #endif
        lane.enter {
            self.lateProbe = nil
            if self.probe == nil { self.show(with: begin(false)) }
        }
    }

    private func show(with probe: StreamProbe<Element>?) {
        replay.forEach { _ = probe?.record($0) }
        self.probe = probe
    }
}

#if Inspector
extension Multicaster: NamedSource {
    func beginTrack() {
        lane.enter {
            guard let probe = self.lateProbe?(true) else { return }
            self.lateProbe = nil
            self.show(with: probe)
        }
    }
}
#endif

#if Inspector
/// A signal or property that has a name. Those of all types of values are in one list.
protocol NamedSource: AnyObject, Sendable {
    /// Begins its track, unless it has one or there are too many.
    func beginTrack()
}

/// The signals and properties that got their names when no inspector was attached. Keeps none of them alive.
final class NamedSources: Sendable {
    private struct Entry: Sendable {
        weak var source: (any NamedSource)?
    }

    private struct Contents {
        var entries: [Entry] = []
        /// The number of entries at which those that have been released are removed: twice as many as were left the
        /// last time, so that this costs each entry a constant time.
        var purgeCount = minimum
    }

    private static let minimum = 64
    private let contents = Mutex(Contents())

    /// The number of entries, including released ones.
    var count: Int { contents.withLock { $0.entries.count } }

    /// Adds a source. Returns false, and adds nothing, if an inspector is attached.
    func add(_ source: any NamedSource) -> Bool {
        var crowd: [Entry] = []
        let isAdded = contents.withLock { contents in
            guard !StreamLog.isAttached else { return false }
            contents.entries.append(Entry(source: source))
            if contents.entries.count >= contents.purgeCount {
                (crowd, contents.entries) = (contents.entries, [])
                contents.purgeCount = .max
            }
            return true
        }
        guard !crowd.isEmpty else { return isAdded }
        // Outside of the lock, because the last reference to a source may end here, and with it the program's objects.
        crowd.removeAll { $0.source == nil }
        contents.withLock { contents in
            contents.entries += crowd
            contents.purgeCount = max(Self.minimum, 2 * contents.entries.count)
        }
        // An inspector that has attached meanwhile has not found them in the list.
        if StreamLog.isAttached { Self.beginTracks(of: crowd) }
        return isAdded
    }

    /// Begins the tracks of all sources, as far as their number allows. Only when an inspector is attached.
    func beginTracks() { Self.beginTracks(of: contents.withLock { $0.entries }) }

    private static func beginTracks(of entries: [Entry]) {
        for entry in entries { entry.source?.beginTrack() }
    }
}
#endif
