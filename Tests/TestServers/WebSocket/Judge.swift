/// Judges observations by the rules of the suite's `case.py`.
enum Judge {
    static func outcome(of tested: AutobahnCase, _ observation: Observation) -> AutobahnOutcome {
        var outcome = AutobahnOutcome(
            number: tested.number, behavior: .failed, explanation: "", closeBehavior: .failed,
            closeExplanation: "", closeCode: observation.closeCode)
        (outcome.behavior, outcome.explanation) = judge(tested.play, observation)
        (outcome.closeBehavior, outcome.closeExplanation) = judge(tested.close, observation)
        if let complaint = observation.complaint { outcome.explanation += "; the client sent \(complaint)" }
        guard observation.isOpen else {
            outcome.explanation = observation.complaint ?? "the client did not connect"
            outcome.behavior = .failed
            return outcome
        }
        if tested.close.isFailedByWrongSide, isByWrongSide(tested.close, observation) {
            outcome.behavior = .failed
            outcome.explanation = "the client did not fail the connection"
        }
        if tested.isFailedByWrongCode, outcome.closeBehavior == .wrongCode {
            outcome.behavior = .failed
            outcome.explanation = outcome.closeExplanation
        }
        if tested.isInformational {
            outcome.behavior = .informational
            outcome.closeBehavior = .informational
        }
        return outcome
    }

    private static func judge(
        _ play: Play, _ observation: Observation
    ) -> (AutobahnOutcome.Behavior, String) {
        switch play {
        case .script(let script):
            if observation.events == script.expected { return (.ok, "as expected") }
            let events = observation.events.map(\.description).joined(separator: ", ")
            let text = events.isEmpty ? "nothing came" : "there came \(events)"
            if let nonStrict = script.nonStrict, observation.events == nonStrict { return (.nonStrict, text) }
            return (.failed, text)
        case .exchange:
            switch observation.result {
            case .completed: return (.ok, "all messages came back")
            case .notOffered: return (.unimplemented, "the client does not offer permessage-deflate")
            case .mismatch(let difference): return (.failed, difference)
            case nil: return (.failed, "not all messages came back in time")
            }
        }
    }

    private static func judge(
        _ expectation: CloseExpectation, _ observation: Observation
    ) -> (AutobahnOutcome.CloseBehavior, String) {
        guard observation.isOpen else { return (.failed, "the opening handshake was not completed") }
        if isByWrongSide(expectation, observation) {
            let side = observation.isClosedByServer ? "server" : "client"
            let code = observation.closeCode.map { ", the client's code is \($0)" } ?? ""
            return (.failed, "the \(side) closed first\(code)")
        }
        if expectation.isClean, !observation.isClean {
            return (.unclean, "dropped without an exchange of close frames")
        }
        if let code = observation.closeCode, !expectation.codes.contains(code) {
            let codes = expectation.codes.map(String.init).joined(separator: " or ")
            return (.wrongCode, "the code is \(code), not \(codes)")
        }
        return (.ok, "closed properly")
    }

    private static func isByWrongSide(_ expectation: CloseExpectation, _ observation: Observation) -> Bool {
        (expectation.by == .server) != observation.isClosedByServer
    }
}
