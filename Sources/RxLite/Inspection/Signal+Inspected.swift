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
    /// Begins a track for the values as soon as there is an inspector, after those that are being delivered. Does nothing
    /// for further names.
    func inspect(
        _ kind: StreamTrack.Kind, _ name: String, _ place: String,
        _ showing: (@Sendable (Element) -> String)?, currentText: @escaping @Sendable () -> String? = { nil }
    ) {
        let begin = { @Sendable (isLate: Bool) -> StreamProbe<Element>? in
            let origin = StreamTrack.Origin(name: name, kind: kind, element: "\(Element.self)", place: place)
            return StreamLog.shared.begin(origin, isLate: isLate, currentText: currentText).map {
                StreamProbe($0, showing: showing)
            }
        }
        #if Inspector
        if !StreamLog.isAttached {
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
