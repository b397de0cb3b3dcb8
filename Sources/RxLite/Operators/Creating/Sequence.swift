extension Observable {
    /// The elements of a sequence, then the end.
    ///
    /// ```
    /// sequence(1...3)
    ///                 (123|)
    /// ```
    ///
    /// The sequence may be endless: after each element it checks whether the subscription is open, and while
    /// it is paused no further element is taken. On a scheduler, other work gets its turn after every 1024.
    @inlinable
    public static func sequence(_ elements: some Swift.Sequence<Element> & Sendable) -> Observable {
        Observable(pulling: elements)
    }
}

extension Observable where Failure == Never {
    /// The elements of a sequence, then the end. Cannot fail, unless the context requires an error type.
    @inlinable
    public static func sequence(_ elements: some Swift.Sequence<Element> & Sendable) -> Observable {
        Observable(pulling: elements)
    }
}

extension Observable {
    @inlinable
    init(pulling elements: some Swift.Sequence<Element> & Sendable) {
        self.init { observer in
            let pump = SequencePump(elements.makeIterator(), observer: observer)
            observer.scope.onResume { pump.run() }
            observer.scope.perform { pump.run() }
        }
    }
}

/// A pump, regardless of the type that it pulls from.
@usableFromInline
protocol Pumping: AnyObject, Sendable {
    func run()
}

/// Pulls an iterator while the subscription is open and not paused.
@usableFromInline
final class SequencePump<Iterator: IteratorProtocol, Failure: Error>: Pumping, @unchecked Sendable
where Iterator.Element: Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    @usableFromInline var iterator: Iterator
    @usableFromInline let observer: Observer<Iterator.Element, Failure>
    @usableFromInline var isRunning = false

    @usableFromInline
    init(_ iterator: Iterator, observer: Observer<Iterator.Element, Failure>) {
        self.iterator = iterator
        self.observer = observer
    }

    @inlinable
    func run() {
        guard !isRunning else { return }
        isRunning = true
        var iterator = iterator
        let observer = observer
        let scope = observer.scope
        // The documentation of `sequence` names the number of steps.
        var budget = StepBudget(in: scope.lane)
        while scope.isOpen && !scope.isPaused {
            guard budget.step() else {
                // As `any Pumping`, because the iterator's type need not be sendable.
                let pump: any Pumping = self
                scope.inNextTurn { pump.run() }
                break
            }
            guard let element = iterator.next() else {
                observer.finish()
                break
            }
            observer.next(element)
        }
        self.iterator = iterator
        isRunning = false
    }
}
