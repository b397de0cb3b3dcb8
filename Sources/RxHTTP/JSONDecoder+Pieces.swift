package import FoundationEssentials
import RxJSON

extension JSONDecoder {
    /// Decodes a piece of a stream, such as a line or an event.
    ///
    /// - Parameter name: the piece in the message of the error, such as `line 3`.
    /// - Throws: `decoding` with the coding path, and the piece as body.
    package func decode<T: Decodable>(
        _ type: T.Type, named name: @autoclosure () -> String, _ bytes: [UInt8]
    ) throws(NetworkError) -> T {
        do {
            return try decode(type, quicklyFrom: bytes)
        } catch {
            var failure = NetworkError(.decoding, "\(name()): \(error)")
            failure.body = bytes
            if let error = error as? DecodingError {
                failure.codingPath = error.path.text(or: "")
                failure.message =
                    "\(name()), at \(error.path.text(or: "the top level")): \(error.reason(in: bytes))"
            }
            throw failure
        }
    }
}
