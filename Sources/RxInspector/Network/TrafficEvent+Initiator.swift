#if Inspector
import HTTPTypes
import RxClient
import RxLite

extension TrafficEvent {
    /// The `Network.Initiator`: the type of the endpoint, or the method and the path template of an inline endpoint; and
    /// the source line of the nearest call of `inspected`, if there is one.
    var initiator: JSON {
        guard let endpoint = origin?.endpoint, let kind = origin?.kind else { return ["type": "other"] }
        let name =
            endpoint is InlineEndpoint
            ? "\(endpoint.method.rawValue) \(endpoint.path.conventionalTemplate(below: ""))"
            : String(describing: type(of: endpoint))
        let place = cause?.place.split(separator: ":") ?? []
        let line = place.count == 2 ? Int(place[1]) : nil
        let file = line == nil ? nil : place[0].split(separator: "/").last
        let url = file.map { "\(name) \($0)" } ?? name
        // The panel counts lines from 0.
        let number = JSON.integer((line ?? 1) - 1)
        let frame: JSON = [
            "functionName": .string("\(kind)"), "scriptId": "0", "url": .string(url), "lineNumber": number,
            "columnNumber": 0,
        ]
        // The panel links a script, which it would have to know; of a parser it shows the address.
        let initiator: JSON = ["type": "parser", "url": .string(url), "stack": ["callFrames": [frame]]]
        return initiator.adding(("lineNumber", line == nil ? nil : number))
    }
}
#endif
