import RxLite

extension NetworkError: InspectedValue {
    /// One line without text of the server, for the inspector of streams.
    package var inspectedText: String { shown }
}
