import Foundation
import Testing

/// Every public type that could hold a secret is covered by the tests of printing.
@Suite struct PrintedTypesTests {
    /// Types that `PrintingTests` need not print, with the reasons.
    private static let exempt: [String: [String]] = [
        "tested beside the transport": [
            "CurlTransport", "CurlTransport.Configuration", "CurlTransport.ConnectTo",
            "CurlTransport.HostOverride", "Proxy",
            "TLSConfiguration",
        ],
        "holds closures, whose contents nothing prints": [
            "Accessory", "CookieStorage", "PagingOptions", "PagingRule",
            "ParameterFormat", "PublicSuffixes", "Signature", "StreamedBody",
            "ParameterStyle", "ProtocolUpgrade", "RedirectPolicy", "StreamResumption",
            "EventDecoder", "FileAppender",
        ],
        "holds names, codes, sizes and hosts that the app or the system chose": [
            "ConnectionEvent", "ContentTypes", "CredentialFile", "HSTSStore",
            "DiskCacheStatistics",
            "WebSocketSettings", "DiskCacheStore", "DownloadedFile",
            "Envelope", "Envelope.Codes", "ErrorTexts",
            "Envelope.Keys", "LibcurlFeatures", "NetworkError.Code", "Origin",
            "MessageSignatureError", "MessageSignatureError.Code", "OAuth.Metadata",
            "CircuitBreaker", "CircuitBreaker.Policy", "PayloadPath", "RequestLimiter", "RequestLimits",
            "NetworkError.TLSFailure", "TransferMetrics",
        ],
        "has content that the app requested, and shows it": [
            "StreamResumption.Received", "ServerSentEvent", "WebSocketMessage",
        ],
        "is printed inside the value that holds it": ["PagingState.Phase"],
        "is sent in header fields that are not secret": [
            "ContentDigest", "MessageSignatureParameters", "MessageVerifier.Policy",
            "MessageVerifier.Verified", "SignatureComponent", "WebhookVerifier.Message",
        ],
        "is redacted before it is made": ["HAR"],
    ]

    /// Every public type that can hold a text, bytes or header fields is printed, or has its reason.
    @Test func everyType() throws {
        let path = "Tests/RxClientTests/Secrets/PrintingTests.swift"
        var text = try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
        for file in try SourceFile.all(in: "Tests/RxAuthTests")
        where file.path.hasSuffix("PrintingTests.swift") {
            text += file.lines.joined(separator: "\n")
        }
        let printed = Set(text.matches(of: #/\(?"([A-Z][\w.]*)",/#).map { String($0.1) })
        let suspects = try Self.suspects()
        let exempt = Set(Self.exempt.values.joined())
        #expect(suspects.isSuperset(of: ["Request", "Credential", "PagingState", "TrafficEvent.Kind"]))
        let missing = suspects.subtracting(printed).subtracting(exempt)
        #expect(missing.isEmpty, "print them in \(path), or say here why not: \(missing.sorted())")
        let idle = exempt.subtracting(suspects).union(exempt.intersection(printed))
        #expect(idle.isEmpty, "need no reason: \(idle.sorted())")
    }

    /// The public types with a stored property or a case that can hold a secret, or that holds such a type.
    private static func suspects() throws -> Set<String> {
        var types: [String: (isPublic: Bool, parts: Set<String>)] = [:]
        for module in [
            "RxHTTP", "RxCookies", "RxHAR", "RxParameters", "RxClient", "RxCurl", "RxDiskCache",
            "RxWebSocket", "RxAuth",
        ] {
            for file in try SourceFile.all(in: "Sources/\(module)") { collect(file, into: &types) }
        }
        var holders: Set<String> = [
            "String", "Substring", "UInt8", "Data", "URL", "HTTPFields", "HTTPField",
        ]
        var count = 0
        while count < holders.count {
            count = holders.count
            for (name, type) in types where !type.parts.isDisjoint(with: holders) {
                holders.insert(String(name.split(separator: ".").last ?? ""))
            }
        }
        return Set(
            types.filter { $0.value.isPublic && !$0.value.parts.isDisjoint(with: holders) }.keys)
    }

    /// Reads declarations by their indentation, which the formatter maintains.
    private static func collect(
        _ file: SourceFile, into types: inout [String: (isPublic: Bool, parts: Set<String>)]
    ) {
        let declaration =
            #/^ *(public |package |private |fileprivate )?(?:final |indirect )*(struct|enum|class|actor|extension) ([A-Z][\w.]*)/#
        let property =
            #/^ *(?:(?:@\w+|public|package|private|fileprivate|weak|static|private\(set\)|public internal\(set\)) )*(?:let|var) [^={]*: *([^={]+)/#
        var open: [(name: String, indentation: Int)] = []
        for line in file.code where !line.allSatisfy(\.isWhitespace) {
            let indentation = line.prefix { $0 == " " }.count
            while let last = open.last, indentation <= last.indentation { open.removeLast() }
            if let found = line.firstMatch(of: declaration) {
                let name = (open.map(\.name) + [String(found.3)]).joined(separator: ".")
                open.append((String(found.3), indentation))
                if found.2 != "extension" {
                    types[name, default: (false, [])].isPublic = found.1 == "public "
                }
                continue
            }
            guard let last = open.last, indentation == last.indentation + 4 else { continue }
            let name = open.map(\.name).joined(separator: ".")
            var parts = ""
            if line.contains(#/^ *(indirect )?case .*\(/#) {
                parts = line
            } else if let found = line.firstMatch(of: property), !line.contains("{") {
                parts = String(found.1)
            }
            let names = parts.matches(of: #/[A-Z]\w*/#).map { String($0.0) }
            types[name, default: (false, [])].parts.formUnion(names)
        }
    }
}
