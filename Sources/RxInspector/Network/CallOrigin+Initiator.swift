#if Inspector
import HTTPTypes
import RxClient

extension CallOrigin {
    /// The `Network.Initiator` with one frame: the type of the endpoint, or the method and the path template of
    /// an inline endpoint.
    var initiator: JSON {
        guard let endpoint else { return ["type": "other"] }
        let path = endpoint.path.prefix { $0 != "?" && $0 != "#" }
        let name =
            endpoint is InlineEndpoint
            ? "\(endpoint.method.rawValue) \(path)" : String(describing: type(of: endpoint))
        let frame: JSON = [
            "functionName": .string("\(kind)"), "scriptId": "0", "url": .string(name), "lineNumber": 0,
            "columnNumber": 0,
        ]
        // The panel links a script, which it would have to know; of a parser it shows the address.
        return ["type": "parser", "url": .string(name), "stack": ["callFrames": [frame]]]
    }
}
#endif
