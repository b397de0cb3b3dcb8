#if Outbox
public import FoundationEssentials
public import RxClient
import RxHTTP
import RxJSON

/// An endpoint that an ``Outbox`` can store: its form on disk has a name and a version, so that a later version of the
/// program can still read it.
///
/// ```swift
/// struct PlaceOrder: OutboxEndpoint {
///     static let outboxName = "order.place"
///     var goods: Int
///     var count: Int
///
///     typealias Output = Receipt
///     var path: String { "/orders" }
///     var method: HTTPRequest.Method { .post }
///     var parameters: Parameters { ["goods": goods, "count": count] }
/// }
/// ```
///
/// Stored properties are what is stored. Path, method, parameters and options are computed when the entry is sent, and
/// must follow from the stored properties alone: every attempt, also after a restart, has to send the same request.
/// Times, random numbers and ids belong in stored properties.
public protocol OutboxEndpoint: Endpoint, Codable {
    /// The name of the form, unique within an outbox. Never change it; types may be renamed.
    static var outboxName: String { get }
    /// The version of the form. Increase it when a new app version cannot decode what an older one has encoded, and
    /// implement ``migrate(_:from:)``. Default 1.
    static var outboxVersion: Int { get }

    /// Makes the endpoint from a form of another version. Default: throws. An entry of an older version becomes a dead
    /// letter then, with the reason ``DeadReason/unreadable(_:)``; one of a newer version waits for an app version that
    /// can read it (``WaitReason/unreadable(_:)``).
    ///
    /// A migrated entry keeps its `Idempotency-Key`. If it may have been sent before, the migrated endpoint must make the
    /// same request as the older version of the app did, since servers compare the body with the first one.
    ///
    /// - Parameters:
    ///   - content: what the other version has encoded, as JSON.
    ///   - version: that version, older or newer than ``outboxVersion``.
    static func migrate(_ content: Data, from version: Int) throws -> Self

    /// The paths of the files that the request sends, such as those of a `.file` body. They stay where they are, and
    /// must stay unchanged until the entry is delivered: the outbox stores their digests, and does not send an entry
    /// whose files have changed. Default: none.
    var attachments: [String] { get }
}

extension OutboxEndpoint {
    /// Version 1.
    public static var outboxVersion: Int { 1 }

    /// Always throws.
    public static func migrate(_: Data, from version: Int) throws -> Self {
        throw OutboxFormError(
            "version \(version) of \(outboxName) cannot be read by version \(outboxVersion); implement migrate(_:from:)"
        )
    }

    /// No files.
    public var attachments: [String] { [] }
}

/// The reason why a stored endpoint cannot be read.
struct OutboxFormError: Error, CustomStringConvertible {
    let description: String
    /// Whether a newer version of the app may have written the endpoint, and can read it.
    var mayBeNewer = false
    init(_ description: String) { self.description = description }
}

/// Encrypts the stored endpoints, so that the store shows nothing of them.
///
/// ```swift
/// let seal = OutboxSeal(
///     seal: { content in try vault.encrypt(content) }, open: { content in try vault.decrypt(content) })
/// ```
///
/// Endpoints and receipts are sealed. Names of forms, accounts, order keys, topics, idempotency keys, the paths, sizes and
/// digests of attachments, and the error text of the server (``OutboxFailure/serverMessage``), which may repeat values of the
/// request, are stored in the clear. An entry that cannot be opened becomes a dead letter.
public struct OutboxSeal: Sendable {
    let seal: @Sendable (Data) throws -> Data
    let open: @Sendable (Data) throws -> Data

    /// Creates a seal. `seal` is called on the thread that subscribes to ``Outbox/enqueue(_:key:order:replacing:lifetime:)``
    /// or ``Outbox/edit(_:to:)``, or on a thread of the outbox; `open` on threads of the outbox or its store. Both may be
    /// called concurrently.
    public init(
        seal: @escaping @Sendable (Data) throws -> Data, open: @escaping @Sendable (Data) throws -> Data
    ) {
        self.seal = seal
        self.open = open
    }
}

/// The endpoint types of an outbox, by their names.
struct EndpointTypes: Sendable {
    private let types: [String: any OutboxEndpoint.Type]
    private let seal: OutboxSeal?

    /// - Throws: `invalidConfiguration` if two types have the same name.
    init(_ types: [any OutboxEndpoint.Type], _ seal: OutboxSeal?) throws(NetworkError) {
        var named: [String: any OutboxEndpoint.Type] = [:]
        for type in types {
            if let other = named[type.outboxName], other != type {
                throw NetworkError(
                    .invalidConfiguration,
                    "the endpoints \(other) and \(type) of an outbox are both named \(type.outboxName); rename one"
                )
            }
            named[type.outboxName] = type
        }
        self.types = named
        self.seal = seal
    }

    /// The same bytes for the same endpoint, so that two can be compared.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    var isSealing: Bool { seal != nil }

    /// - Throws: `invalidParameters` if the endpoint cannot be encoded or sealed; `invalidConfiguration` if its type is
    ///   unknown, so that it could not be read again.
    func encode<E: OutboxEndpoint>(_ endpoint: E) throws(NetworkError) -> Data {
        guard types[E.outboxName] == E.self else {
            throw NetworkError(
                .invalidConfiguration,
                "the outbox does not know the endpoint \(E.self); name it in Outbox(store:client:endpoints:)")
        }
        do {
            let content = try Self.encoder.encode(endpoint)
            return try sealed(content)
        } catch {
            // The error may contain values.
            throw NetworkError(.invalidParameters, "the endpoint \(E.outboxName) cannot be encoded or sealed")
        }
    }

    /// The endpoint of an entry.
    func endpoint(of entry: OutboxEntry, _ content: Data) throws(OutboxFormError) -> any OutboxEndpoint {
        let type = types[entry.name]
        do throws(OutboxFormError) {
            guard let type else {
                throw OutboxFormError("no endpoint of this program is named \(entry.name)")
            }
            return try decode(type, of: entry, content)
        } catch {
            var error = error
            error.mayBeNewer = type.map { entry.version > $0.outboxVersion } ?? true
            throw error
        }
    }

    func decode<E: OutboxEndpoint>(
        _: E.Type, of entry: OutboxEntry, _ content: Data
    ) throws(OutboxFormError) -> E {
        guard entry.name == E.outboxName else {
            throw OutboxFormError("the entry is a \(entry.name), not a \(E.outboxName)")
        }
        let opened = try self.content(of: entry, content)
        do {
            return entry.version == E.outboxVersion
                ? try JSONDecoder().decode(E.self, quicklyFrom: Array(opened))
                : try E.migrate(opened, from: entry.version)
        } catch let error as OutboxFormError {
            throw error
        } catch let error as DecodingError {
            throw OutboxFormError(
                "version \(entry.version) of \(entry.name) cannot be read: \(error.location)")
        } catch {
            throw OutboxFormError("version \(entry.version) of \(entry.name) cannot be migrated")
        }
    }

    /// Whether an entry holds the same endpoint, of the same account, as a stored one.
    func isSame(_ known: OutboxEntry, _ stored: Data, as entry: OutboxEntry, _ content: Data) -> Bool {
        guard known.name == entry.name, known.account == entry.account,
            let other = try? self.content(of: entry, content)
        else { return false }
        if known.version == entry.version, let one = try? self.content(of: known, stored), one == other {
            return true
        }
        // Another version of the app may have written it.
        return current(known, stored) == other
    }

    /// The endpoint of an entry as this version of the app encodes it; `nil` if it cannot be read.
    func current(_ entry: OutboxEntry, _ content: Data) -> Data? {
        guard let endpoint = try? endpoint(of: entry, content) else { return nil }
        return try? Self.encoder.encode(endpoint)
    }

    /// The encoded endpoint of an entry, opened.
    func content(of entry: OutboxEntry, _ content: Data) throws(OutboxFormError) -> Data {
        try opened(content, isSealed: entry.isSealed)
    }

    func sealed(_ content: Data) throws -> Data { try seal?.seal(content) ?? content }

    func opened(_ content: Data, isSealed: Bool) throws(OutboxFormError) -> Data {
        guard isSealed else { return content }
        guard let seal else { throw OutboxFormError("the entry is sealed, and the outbox has no seal") }
        do { return try seal.open(content) } catch {
            throw OutboxFormError("the seal of the entry cannot be opened")
        }
    }
}

extension DecodingError {
    /// The kind of the error and where it is, without values.
    fileprivate var location: String {
        func text(_ path: [any CodingKey]) -> String {
            path.isEmpty ? "at the top" : "at " + path.map(\.stringValue).joined(separator: ".")
        }
        return switch self {
        case .keyNotFound(let key, let context):
            "\(key.stringValue) is missing " + text(context.codingPath)
        case .typeMismatch(_, let context): "another type " + text(context.codingPath)
        case .valueNotFound(_, let context): "no value " + text(context.codingPath)
        case .dataCorrupted(let context): "an invalid value " + text(context.codingPath)
        @unknown default: "an unknown error"
        }
    }
}
#else
/// An endpoint that an outbox can store; needs the package trait `Outbox`.
@available(*, unavailable, message: "enable the trait Outbox of the package RxNetworking")
public typealias OutboxEndpoint = Never
#endif
