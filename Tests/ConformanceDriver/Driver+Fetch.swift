import Foundation
import RxNetworking

extension Driver {
    /// One exchange.
    func fetch(_ command: Command) throws(CommandError) {
        let request = try request(of: command)
        let redirect = command.redirect ?? .follow
        let redirects: RedirectPolicy =
            switch redirect {
            case .follow: RedirectPolicy()
            case .manual: .manual
            case .error: .refused
            }
        let usesCookies = command.credentials != .omit
        let client = client
        let exchange = { @Sendable (request: Request) in
            client.exchange(request, following: redirects, usesCookies: usesCookies).response(to: request)
        }
        let id = command.id
        let responses =
            cache?.response(
                to: request, mode: command.cache ?? .standard,
                // The result of redirects or cookies is useless without them.
                identity: "\(redirect) \(usesCookies)",
                cookies: usesCookies ? client.configuration.cookies : nil, fetching: exchange)
            ?? exchange(request)
        try begin(
            command, responses,
            onNext: { response, operation in operation.end(with: FetchAnswer(id: id, response: response)) })
    }

    private func request(of command: Command) throws(CommandError) -> Request {
        guard let method = HTTPRequest.Method(command.method ?? "GET") else {
            throw CommandError("the method is no token")
        }
        var request = Request(method: method, url: try url(of: command))
        for line in command.headers ?? [] {
            guard line.count == 2 else { throw CommandError("a header is a list of name and value") }
            do throws(NetworkError) {
                request.headerFields.append(try field(line[0], line[1]))
            } catch {
                throw CommandError(error.code.rawValue, error.message)
            }
        }
        if let text = command.bodyBase64 {
            guard let body = Data(base64Encoded: text) else { throw CommandError("the body is no base64") }
            request.body = .bytes(Array(body))
        }
        return request
    }

    private func field(_ name: String, _ value: String) throws(NetworkError) -> HTTPField {
        var checked = Request(url: URL(filePath: "/"))
        try checked.setField(name, to: value)
        return checked.headerFields[checked.headerFields.startIndex]
    }
}
