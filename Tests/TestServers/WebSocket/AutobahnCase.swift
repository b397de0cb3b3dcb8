/// A case of the Autobahn test suite (https://github.com/crossbario/autobahn-testsuite, 25.10): the server
/// plays it, and the client under test is one that echoes every message.
///
/// ``all`` restates the suite's cases for clients by number: the octets, their fragments and chops, the waits
/// and the expectation. It differs in these points:
/// - The waits that a conforming client also sits through (5.19, 5.20, 6.4) are shorter; see ``Pace``.
/// - The messages of 12 and 13 are cut from generated data of the same kinds and sizes as the suite's files.
/// - The messages of section 9 must come back with the same octets, not only with the same length.
public struct AutobahnCase: Sendable {
    /// The number, such as "6.4.1".
    public let number: String
    /// The actions of the server.
    public let description: String
    let play: Play
    let close: CloseExpectation
    /// Whether the suite reports the events of the case without judging them.
    var isInformational = false
    /// Whether a wrong close code also fails the case, as in section 7.
    var isFailedByWrongCode = false

    /// The number before the first dot.
    public var section: Int { Int(number.prefix { $0 != "." }) ?? 0 }

    /// More time than the case can take.
    var longest: Duration {
        switch play {
        case .script: .seconds(120)
        case .exchange(let exchange): exchange.limit + .seconds(120)
        }
    }

    /// The cases of sections 1 to 7, 9, 10, 12 and 13 in the order of the suite.
    public static let all: [AutobahnCase] =
        framing + pingPong + reservedBits + opcodes + fragmentation + utf8 + closeHandling + limits
        + automaticFragments + compression + compressionParameters

    /// The case with this number.
    public static func numbered(_ number: String) -> AutobahnCase? { all.first { $0.number == number } }
}

extension AutobahnCase {
    /// A case in which the client answers with `events`, whereupon the server closes with 1000.
    static func answers(
        _ number: String, _ description: String, _ steps: [Step], with events: [Event],
        otherwise limit: Script.Limit = .fail(after: .seconds(1))
    ) -> AutobahnCase {
        AutobahnCase(
            number: number, description: description,
            play: .script(Script(steps: steps, limit: limit, expected: events)),
            close: CloseExpectation(by: .server, codes: [1000], isClean: true))
    }

    /// A case in which the client fails the connection after `events`.
    static func violates(
        _ number: String, _ description: String, _ steps: [Step], after events: [Event] = [],
        nonStrict: [Event]? = nil, code: UInt16 = 1002,
        otherwise limit: Script.Limit = .fail(after: .seconds(1))
    ) -> AutobahnCase {
        AutobahnCase(
            number: number, description: description,
            play: .script(Script(steps: steps, limit: limit, expected: events, nonStrict: nonStrict)),
            close: CloseExpectation(
                by: .client, codes: [code], isClean: false, isFailedByWrongSide: code == 1007))
    }

    /// A case in which the server sends messages one after the other, each when the last one has come back.
    static func exchanges(_ number: String, _ description: String, _ exchange: Exchange) -> AutobahnCase {
        AutobahnCase(
            number: number, description: description, play: .exchange(exchange),
            close: CloseExpectation(by: .server, codes: [1000], isClean: true))
    }
}
