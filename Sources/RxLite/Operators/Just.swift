extension Observable {
    /// One value, then the end.
    @inlinable
    public static func just(_ value: Element) -> Observable {
        Observable { observer in
            observer.scope.perform {
                observer.next(value)
                if observer.scope.isOpen { observer.finish() }
            }
        }
    }
}

extension Observable where Failure == Never {
    /// One value, then the end. Cannot fail, where the context does not say otherwise.
    @inlinable
    public static func just(_ value: Element) -> Observable {
        Observable { observer in
            observer.scope.perform {
                observer.next(value)
                if observer.scope.isOpen { observer.finish() }
            }
        }
    }
}
