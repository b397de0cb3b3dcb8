import HTTPTypes
import RxHTTP
import RxWebSocket

extension Cassette.Exchange {
    /// Replaces parts of the response's body, and keeps the chunks.
    ///
    /// - Parameter edits: takes the whole body and its type.
    mutating func replaceChunks(_ edits: ([UInt8], String?) -> TextEdits) {
        let places = events.indices.filter { if case .chunk = events[$0].kind { true } else { false } }
        guard !places.isEmpty else { return }
        let chunks = places.map { index -> [UInt8] in
            if case .chunk(let bytes) = events[index].kind { bytes } else { [] }
        }
        let replaced = edits(Array(chunks.joined()), head?[.contentType]).applied(to: chunks)
        for (index, chunk) in zip(places, replaced) { events[index].kind = .chunk(chunk) }
    }

    /// Replaces texts wherever they occur.
    mutating func replace(_ texts: KnownTexts) {
        url = texts.replaced(in: url)
        headerFields = texts.replaced(in: headerFields)
        body = texts.edits(in: body).applied(to: body)
        replaceChunks { bytes, _ in texts.edits(in: bytes) }
        for index in events.indices {
            if case .message(.binary(let bytes), let sender) = events[index].kind {
                events[index].kind = .message(.binary(texts.edits(in: bytes).applied(to: bytes)), sender)
            }
            events[index].kind.replace(
                fields: { texts.replaced(in: $0) }, text: { texts.replaced(in: $0) })
        }
    }
}

extension Cassette.Event.Kind {
    /// Replaces the header fields and the texts of an event that is no chunk.
    mutating func replace(fields: (HTTPFields) -> HTTPFields, text: (String) -> String) {
        switch self {
        case .interim(let head): self = .interim(head.replacing(fields))
        case .head(let head): self = .head(head.replacing(fields))
        case .trailers(let trailers): self = .trailers(fields(trailers))
        case .message(.text(let message), let sender): self = .message(.text(text(message)), sender)
        case .close(let code, let reason, let sender): self = .close(code, reason: text(reason), sender)
        case .failed(var failure):
            failure.message = text(failure.message)
            self = .failed(failure)
        case .uploaded, .chunk, .message(.binary, _), .finished, .cancelled: break
        }
    }
}

extension ResponseHead {
    fileprivate func replacing(_ fields: (HTTPFields) -> HTTPFields) -> ResponseHead {
        ResponseHead(status: status, headerFields: fields(headerFields), httpVersion: httpVersion)
    }
}

extension KnownTexts {
    fileprivate func replaced(in fields: HTTPFields) -> HTTPFields {
        var replaced = HTTPFields()
        for field in fields {
            replaced.append(HTTPField(name: field.name, value: self.replaced(in: field.value)))
        }
        return replaced
    }
}
