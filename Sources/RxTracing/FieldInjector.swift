#if Tracing
import HTTPTypes
import RxHTTP
import Tracing

/// Writes the context of a span into the header fields of a request.
struct FieldInjector: Injector {
    /// Whether the field `baggage` is written (https://www.w3.org/TR/baggage/#security-considerations).
    let sendsBaggage: Bool

    /// Replaces the field. A name or value that no field can have is not written.
    func inject(_ value: String, forKey key: String, into request: inout Request) {
        // Making a name checks each of its bytes.
        let known = key == "traceparent" ? Self.traceparent : HTTPField.Name(key)
        guard let name = known else { return }
        if !sendsBaggage, name.canonicalName == "baggage" { return }
        // Making a field changes a value that no field can have.
        let field = HTTPField(name: name, value: value)
        guard field.value == value else { return }
        if request.headerFields.contains(name) {
            request.headerFields[name] = value
        } else {
            request.headerFields.append(field)
        }
    }

    private static let traceparent = HTTPField.Name("traceparent")
}
#endif
