import Foundation
import RxNetworking

extension Driver {
    /// A chain of pages joined by `Link: rel="next"`; each page is one line.
    func pages(_ command: Command) throws(CommandError) {
        let id = command.id
        var call = InlineEndpoint(.get, try url(of: command).absoluteString)
        call.options.headers = try headers(of: command)
        call.options.usesCookies = command.credentials != .omit
        let pages = client.items(call, .link) { response throws(NetworkError) in
            Page([(url: response.url.absoluteString, status: response.status.code, items: response.itemCount)]
            )
        }
        let numbered = pages.scan((number: 0, page: nil as (url: String, status: Int, items: Int)?)) {
            ($0.number + 1, $1)
        }
        try begin(
            command, numbered,
            onNext: { numbered, operation in
                guard let page = numbered.page else { return }
                operation.write(
                    PageAnswer(
                        id: id, page: numbered.number, url: page.url, status: page.status, items: page.items))
            },
            onFinish: { operation in operation.end(with: EndAnswer(id: id)) })
    }

    func headers(of command: Command) throws(CommandError) -> Headers {
        var headers = Headers()
        for line in command.headers ?? [] {
            guard line.count == 2 else { throw CommandError("a header is a list of name and value") }
            headers.append(line[0], line[1])
        }
        return headers
    }
}

extension Response {
    /// The number of items on the page: in a list at the top level, or in the only list of an object.
    fileprivate var itemCount: Int {
        let document = try? JSONSerialization.jsonObject(with: Data(body))
        if let list = document as? [Any] { return list.count }
        let lists = (document as? [String: Any])?.values.compactMap { $0 as? [Any] } ?? []
        return lists.count == 1 ? lists[0].count : 0
    }
}
