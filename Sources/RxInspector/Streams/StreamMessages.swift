#if Inspector
import FoundationEssentials
import RxLite

/// The messages to a page of streams, as JSON; times are milliseconds on the log's clock.
///
/// `hello` comes first: the open tracks, the known requests and the clients. Each `batch` follows the one before without
/// a gap, unless `missed` says that batches were skipped. The scripts in `Page` read all members by their
/// names.
enum StreamMessages {
    /// - Parameters:
    ///   - omitted: the number of requests so far that are not shown.
    ///   - untracked: the number of streams that are older than the inspector and not shown.
    static func hello(
        _ tracks: [StreamTrack], requests: [JSON], clients: [JSON], omitted: Int, untracked: Int,
        at time: Duration
    ) -> JSON {
        let date = Date().timeIntervalSince1970 * 1000
        return [
            "type": "hello", "process": .string(ProcessName.current), "t": .milliseconds(time),
            // The date of time zero.
            "epoch": .number(date - time / .milliseconds(1)),
            "tracks": .array(
                tracks.map {
                    $0.document.adding(("paused", .bool($0.isPaused)), ("count", .integer($0.count)))
                }),
            "requests": .array(requests), "clients": .array(clients), "omitted": .integer(omitted),
            "untracked": .integer(untracked),
        ]
    }

    /// - Parameters:
    ///   - clients: the states of the clients if they have changed.
    ///   - omitted: the number of requests so far that are not shown.
    static func batch(_ batch: StreamBatch, requests: [JSON], clients: [JSON]?, omitted: Int) -> JSON {
        let counts = batch.counts.sorted { $0.key < $1.key }
        var members: [(String, JSON)] = [
            ("type", "batch"), ("t", .milliseconds(batch.time)),
            ("events", .array(batch.records.map(\.document))),
            ("counts", .array(counts.map { [.integer($0.key), .integer($0.value)] })),
            ("lost", .integer(batch.lost)), ("untracked", .integer(batch.untracked)),
            ("requests", .array(requests)), ("omitted", .integer(omitted)),
        ]
        if let clients { members.append(("clients", .array(clients))) }
        return .object(members)
    }

    /// The current values of states, as events; their marbles have negative numbers, since they led to nothing, by
    /// which `takeValue` of `streams.js` recognizes them.
    ///
    /// - Parameters:
    ///   - start: the time before the values were read.
    ///   - end: the time after that.
    static func values(
        of states: [(track: StreamTrack, text: String)], from start: Duration, until end: Duration
    ) -> JSON {
        let events = states.map { state -> JSON in
            [
                "k": "value", "track": .integer(state.track.id), "t": .milliseconds(start),
                "until": .milliseconds(end), "marble": .integer(-state.track.id), "text": .string(state.text),
            ]
        }
        return ["type": "values", "t": .milliseconds(end), "events": .array(events)]
    }
}

extension JSON {
    /// A time or a duration in milliseconds, to the microsecond.
    static func milliseconds(_ time: Duration) -> JSON {
        .number((time / .microseconds(1)).rounded() / 1000)
    }
}

extension StreamTrack {
    /// The track as the page reads it. The scripts and the style know the raw values of the kind.
    var document: JSON {
        [
            "id": .integer(id), "name": .string(origin.name), "kind": .string(origin.kind.rawValue),
            "number": .integer(origin.number), "element": .string(origin.element),
            "place": .string(origin.location), "parent": .integer(parent), "marble": .integer(marble),
            "inner": .integer(inner), "t": .milliseconds(begun),
        ]
    }
}

extension StreamRecord {
    /// The event as the page reads it. `take` of `streams.js` chooses by the name, and takes one that it does not know
    /// for an end; `ENDS` of `model.js` has the marks of ends.
    fileprivate var document: JSON {
        var members: [(String, JSON)] = [("track", .integer(track)), ("t", .milliseconds(time))]
        let name: JSON
        switch kind {
        case .begun(let track):
            name = "begun"
            members[0].1 = track.document
        case .value(let marble, let text, let pages):
            name = "value"
            members += [("marble", .integer(marble)), ("text", .string(text))]
            if let pages { members.append(("pages", pages.document)) }
        case .failed(let text):
            name = "failed"
            members.append(("text", .string(text)))
        case .finished: name = "finished"
        case .cancelled: name = "cancelled"
        case .released: name = "released"
        case .paused: name = "paused"
        case .resumed: name = "resumed"
        }
        return .object([("k", name)] + members)
    }
}

extension ShownPages {
    /// The pages, with the members that `pagesCard` of `cards.js` reads.
    fileprivate var document: JSON {
        var members: [(String, JSON)] = [
            ("page", .integer(page)), ("items", .integer(items)), ("phase", .string(phase)),
        ]
        if let total { members.append(("total", .integer(total))) }
        return .object(members)
    }
}
#endif
