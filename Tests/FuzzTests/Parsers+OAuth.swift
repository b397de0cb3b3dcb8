#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters

@testable import RxAuth

extension Parser {
    /// The parsers of OAuth: documents, responses, redirects and tokens of servers and browsers.
    static let oauth: [Parser] = [
        Parser(
            "metadata of authorization servers",
            [
                #"{"issuer":"https://a.test","token_endpoint":"https://a.test/t","scopes_supported":["a"],"mtls_endpoint_aliases":{"token_endpoint":"https://m.test/t"}}"#,
                #"{"issuer":"https://a.test","token_endpoint":"http://127.0.0.1/t"}"#, "{}", "[",
                #"{"issuer":"https://a.test","authorization_endpoint":"https://u:p@a.test/"}"#,
            ]
        ) { bytes in
            var endpoints: [URL] = []
            do throws(NetworkError) {
                let metadata = try OAuth.Metadata(bytes, issuer: "https://a.test")
                endpoints = [metadata.tokenEndpoint, metadata.authorizationEndpoint].compactMap { $0 }
            } catch { return error.code.rawValue }
            try demand(
                endpoints.allSatisfy { $0.scheme?.lowercased() == "https" }, "an endpoint without https")
            return "\(endpoints)"
        },
        Parser(
            "issuer identifiers",
            text: [
                "https://id.test", "https://id.test:444/a/", "http://127.0.0.1:80", "http://[::1]/x",
                "https://u:p@a.test",
                "http://127.0.0.1.evil.test", "https://a.test/../b", "https://a.test/%2f", "//a",
                "https://[::1", "",
                "https://xn--a.test/\u{E4}", "https://a.test\\@b.test/",
            ]
        ) { text in
            let shown = text.originAndPath
            let visible = URL(string: shown)
            try demand(
                visible?.user() == nil && visible?.password() == nil && visible?.query() == nil,
                "a secret in \(shown)")
            guard let url = OAuthURL(text) else { return shown }
            let host = url.origin.host
            for place in [url.wellKnown("a"), url.wellKnown("a", withPath: false)] {
                guard let place else { continue }
                let found = OAuthURL(place.absoluteString)
                try demand(found?.origin == url.origin, "\(place) is not at \(host)")
                try demand(place.query() == nil && place.fragment == nil, "\(place) has more than a path")
            }
            try demand(url.includes(url), "\(text) is not below itself")
            try demand(
                url.isSecure == (url.origin.scheme == "https" || url.isLoopback),
                "\(text) is not reached by https")
            return "\(host) \(url.path) \(url.isLoopback)"
        },
        Parser(
            "pushed authorization responses",
            [
                #"{"request_uri":"urn:ietf:params:oauth:request_uri:x","expires_in":60}"#,
                #"{"request_uri":1}"#,
                #"{"request_uri":""}"#, #"{"request_uri":"a b"}"#, #"{"error":"invalid_request"}"#, "<html>",
                "[",
                #"{"request_uri":"a\r\nb"}"#,
            ]
        ) { bytes in
            guard let url = URL(string: "https://a.test/par") else { return "no URL" }
            let name: String
            do throws(NetworkError) {
                let response = Response(
                    head: ResponseHead(status: .created), body: bytes, request: Request(url: url))
                let json = try OAuthEndpoint.object(in: response, "a", at: Date(timeIntervalSince1970: 0))
                name = try AuthorizationCodeLogin.requestName(in: json)
            } catch { return error.code.rawValue + (error.envelopeCode ?? "") }
            try demand(name.isVisibleASCII, "a name that no URL can carry")
            return name
        },
        Parser(
            "metadata of protected resources",
            [
                #"{"resource":"https://a.test/x","authorization_servers":["https://b.test"],"scopes_supported":["a"]}"#,
                #"{"resource":"https://a.test/","authorization_servers":[]}"#, "{}",
            ]
        ) { bytes in
            do throws(NetworkError) {
                let metadata = try OAuth.ResourceMetadata(bytes, for: "https://a.test/x/y")
                return metadata.resource
            } catch { return error.code.rawValue }
        },
        Parser(
            "token responses",
            [
                #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r","scope":"a b"}"#,
                #"{"access_token":"a","token_type":"DPoP","expires_in":"1e3"}"#,
                #"{"error":"invalid_grant"}"#, "<html>",
            ]
        ) { bytes in
            let found: OAuth.Tokens
            let date = Date(timeIntervalSince1970: 0)
            do throws(NetworkError) {
                guard let url = URL(string: "https://a.test/t") else { return "no URL" }
                let response = Response(
                    head: ResponseHead(status: .ok), body: bytes, request: Request(url: url))
                let json = try OAuthEndpoint.object(in: response, "a", at: date)
                found = try OAuth.Tokens(json, issuer: "https://a.test", isBound: false, at: date)
            } catch { return error.code.rawValue + (error.envelopeCode ?? "") }
            try demand(found.accessToken.isVisibleASCII, "a token that no field can carry")
            try demand(found.expires.map { $0 >= date } ?? true, "a token that has expired before it came")
            return found.accessToken
        },
        Parser(
            "device authorization responses",
            [
                #"{"device_code":"d","user_code":"AB-CD","verification_uri":"https://a.test/d","expires_in":60,"interval":1}"#,
                #"{"device_code":"d","user_code":"u","verification_url":"https://a.test","verification_uri_complete":"https://a.test/d?u"}"#,
                #"{"device_code":"d","user_code":"u","verification_uri":"http://127.0.0.1/","expires_in":"1e9","interval":0}"#,
                "{}", "[",
            ]
        ) { bytes in
            let found: DeviceLogin.Authorization
            let date = Date(timeIntervalSince1970: 0)
            do throws(NetworkError) {
                found = try DeviceLogin.Authorization(JSONValue(parsing: bytes) ?? .null, at: date)
            } catch { return error.code.rawValue }
            try demand(found.interval >= 1, "polls without a pause")
            try demand(found.code.expires.timeIntervalSince(date) <= 3600, "a code that does not end")
            let urls = [found.code.verificationURL, found.code.completeURL].compactMap { $0?.absoluteString }
            try demand(
                urls.allSatisfy { OAuthURL($0)?.isSecure == true }, "a page that is not reached by https")
            return "\(found.deviceCode) \(found.code.userCode) \(urls)"
        },
        Parser(
            "introspections",
            [
                #"{"active":true,"scope":"a b","client_id":"c","sub":"s","aud":["x","y"],"exp":1700000100,"username":"u"}"#,
                #"{"active":false}"#, #"{"active":"yes"}"#, #"{"active":true,"exp":-1,"aud":{}}"#, "[]", "{",
            ]
        ) { bytes in
            do throws(NetworkError) {
                let found = try OAuth.Introspection(JSONValue(parsing: bytes) ?? .null)
                return "\(found.isActive) \(found.scopes) \(found.audiences)"
            } catch { return error.code.rawValue }
        },
        Parser(
            "authorization responses",
            text: [
                "com.app:/cb?code=a%20b&state=s&iss=https%3A%2F%2Fa.test", "?error=access_denied&state=s",
                "?", "#?a",
                "?state=s&state=t", "?%73tate=s&code=%zz",
            ]
        ) { text in
            guard let response = AuthorizationResponse(url: text) else { return "none" }
            let code: String
            do throws(NetworkError) {
                let metadata = OAuth.Metadata(issuer: "https://a.test", tokenEndpoint: nil)
                code = try response.code(state: "s", metadata)
            } catch { return error.code.rawValue }
            try demand(response.state == "s" && !code.isEmpty, "a code for another login")
            return code
        },
        Parser(
            "requests for a redirect",
            [
                "GET /cb?code=a&state=s HTTP/1.1\r\nHost: a\r\n\r\n", "\r\nGET / HTTP/1.0\n\n",
                "POST / HTTP/1.1\r\n\r\n",
            ]
        ) { bytes in
            var whole = LoopbackRequest.Parser()
            let found = whole.append(bytes[...])
            var parts = LoopbackRequest.Parser()
            var again: LoopbackRequest?
            for byte in bytes where again == nil { again = parts.append([byte]) }
            try demand(
                found == again,
                "\(String(describing: found)) in one part, \(String(describing: again)) in many")
            return "\(String(describing: found))"
        },
        Parser(
            "ID tokens",
            text: [
                "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2EudGVzdCIsInN1YiI6ImEiLCJhdWQiOiJjIiwiaWF0IjowLCJleHAiOjF9.AAAA",
                "e30.e30.", "..", "a.b.c", "e30.W10.AA",
            ]
        ) { text in
            guard let token = JSONWebToken(text) else { return "none" }
            let key = try MessageSigningKey.ed25519([UInt8](repeating: 1, count: 32))
            let members = (key.verifyingKey.publicMembers ?? [:]).mapValues { JSONValue.string($0) }
            let document = JSONValue.object(["keys": .array([.object(members)])]).document
            guard let keys = JSONWebKeySet(document), keys.verified(token) == nil else {
                throw Violation(description: "a token without the key is valid")
            }
            guard case .object(let claims) = token.claims,
                let own = JSONWebToken(try JSONWebToken.signed(claims, by: key, keyID: nil)),
                let verified = keys.verified(own)
            else { return "not signed again" }
            do throws(NetworkError) {
                _ = try IDTokenRules(issuer: "https://a.test", clientID: "c")
                    .validate(verified, at: Date(timeIntervalSince1970: 0))
                return "valid"
            } catch { return error.code.rawValue }
        },
        Parser(
            "key sets",
            [
                #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a"}]}"#,
                #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#, #"{"keys":{}}"#, "[]",
                #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
                #"{"keys":[{"kty":"EC","crv":"P-521","x":"AA","y":"AA","alg":"ES512"}]}"#,
            ]
        ) { bytes in
            guard let set = JSONWebKeySet(bytes) else { return "none" }
            try demand(set.keys.allSatisfy { !$0.algorithms.isEmpty }, "a key without an algorithm")
            return set.keys.map { $0.algorithms.map(\.rawValue).sorted().joined(separator: "|") }
                .joined(separator: " ")
        },
        Parser(
            "challenges of resources",
            text: [
                #"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://a.test/m""#,
                #"DPoP error="use_dpop_nonce", Bearer max_age="5", acr_values="a""#, "Bearer", "=\"",
            ]
        ) { text in
            let head = ResponseHead(status: .unauthorized, headerFields: [.wwwAuthenticate: text])
            let found = OAuthChallenge.all(in: head)
            try demand(
                found.allSatisfy { $0.scopes.allSatisfy(OAuthScopes.isToken) },
                "a scope that no form can carry")
            return found.map { $0.scopes.joined(separator: " ") }.joined(separator: ",")
        },
    ]
}
#endif
