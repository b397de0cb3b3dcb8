import FlyingFox
import Foundation

extension Shop {
    /// The responses of the authorization server. Its documents have no envelope, since their form is that of RFC 6749.
    func authorize(_ request: HTTPRequest, _ path: [String]) async throws -> HTTPResponse? {
        switch (request.method, path) {
        case (.GET, [".well-known", "oauth-authorization-server"]):
            return try .json(authorization.metadata(issuer: request.issuer()))
        case (.POST, ["oauth", "device"]):
            let (form, issuer) = (try await request.form(), try request.issuer())
            return try .tokens { () throws(TokenRefusal) in try authorization.authorize(form, issuer: issuer)
            }
        case (.POST, ["oauth", "token"]):
            let form = try await request.form()
            return try .tokens { () throws(TokenRefusal) in
                let tokens = try authorization.tokens(form)
                if form["grant_type"] != "refresh_token" { counters.count { $0.logins += 1 } }
                return tokens
            }
        case (.GET, ["device"]):
            // Only letters and hyphens, as codes have them: the page must not show anything else.
            let code = (request.query["user_code"] ?? "").filter { $0.isASCII && $0.isLetter || $0 == "-" }
            return .page(
                """
                <form method="post"><p>Code: <input name="user_code" value="\(code.prefix(16))">
                <p>Name: <input name="user"> Password: <input name="password" type="password">
                <p><button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button>
                </form>
                """)
        case (.POST, ["device"]):
            try authorization.answer(try await request.form())
            return .page("<p>Done. Return to the other screen.")
        default: return nil
        }
    }
}

extension HTTPRequest {
    /// The URL under which the client has reached the server.
    fileprivate func issuer() throws(Refusal) -> String {
        guard let host = headers[.host], host.wholeMatch(of: #/[A-Za-z0-9.:\[\]-]+/#) != nil else {
            throw .invalid("the Host field is missing or malformed")
        }
        return "http://" + host
    }

    fileprivate func form() async throws -> Form { Form(String(decoding: try await bodyData, as: UTF8.self)) }
}

extension HTTPResponse {
    /// The document of a token endpoint, which must not be stored (RFC 6749 §5.1).
    fileprivate static func tokens<Document: Encodable>(
        _ make: () throws(TokenRefusal) -> Document
    ) throws -> HTTPResponse {
        let headers: HTTPHeaders = [HTTPHeader("Cache-Control"): "no-store"]
        let document: Document
        do throws(TokenRefusal) {
            document = try make()
        } catch {
            return try json(
                error, status: HTTPStatusCode(error.status, phrase: error.error), headers: headers)
        }
        return try json(document, headers: headers)
    }

    /// A page of HTML.
    fileprivate static func page(_ content: String) -> HTTPResponse {
        let page = "<!doctype html><meta charset=\"utf-8\"><title>Shop</title>\n\(content)\n"
        return HTTPResponse(
            statusCode: .ok, headers: [.contentType: "text/html; charset=utf-8"], body: Data(page.utf8))
    }
}
