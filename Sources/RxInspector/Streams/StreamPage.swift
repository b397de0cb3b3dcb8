#if Inspector
import FoundationEssentials
import HTTPTypes
import RxHAR

extension InspectorRoute {
    /// The page of streams, its feed, and the requests of its details and its export, by the paths that `feed.js`,
    /// `request-details.js` and `exports.js` ask for. `request` and `panel` take the number of a request as their
    /// query.
    static let streams: [InspectorRoute] =
        [
            InspectorRoute("") { request, site in
                StreamPage.response(to: request.host ?? site.authority)
            },
            InspectorRoute("streams") { request, site in
                .webSocket(request) { outbox in
                    let viewer = Viewer(outbox, site.streams)
                    site.streams.add(viewer)
                    return viewer
                }
            },
            InspectorRoute("request") { request, site in
                guard let number = UInt64(request.query),
                    let exchanges = try await site.exchanges(ofRequest: number)
                else { return .text(.notFound, "no such request") }
                return .json(exchanges.bytes)
            },
            InspectorRoute("panel") { request, site in
                guard let number = UInt64(request.query),
                    let count = await site.recorder.tellLink(toRequest: number)
                else { return .text(.notFound, "no such request") }
                let authority = request.host ?? site.authority
                // `request-details.js` reads the members.
                let answer: JSON = [
                    "panels": .integer(count), "address": .string(site.devToolsURL(at: authority)),
                ]
                return .json(answer.bytes)
            },
            InspectorRoute("har") { _, site in
                .json(Array(try await site.archive().encoded()))
            },
        ]
        + StreamPage.files.map { file in
            InspectorRoute(file.name) { _, _ in .file(file.content, named: file.name) }
        }
}

/// The page of streams: a document, which loads only its own style and scripts.
enum StreamPage {
    /// `page.html`, which has `{{nonce}}` in the places of the nonce.
    private static let html = String(decoding: PackageResources.page_html, as: UTF8.self)

    /// The files beside the document, which it and its scripts name.
    static let files: [(name: String, content: [UInt8])] = [
        ("page.css", PackageResources.page_css), ("cards.js", PackageResources.cards_js),
        ("details.js", PackageResources.details_js), ("dom.js", PackageResources.dom_js),
        ("exports.js", PackageResources.exports_js), ("feed.js", PackageResources.feed_js),
        ("filter.js", PackageResources.filter_js), ("keyboard.js", PackageResources.keyboard_js),
        ("marbles.js", PackageResources.marbles_js), ("model.js", PackageResources.model_js),
        ("page.js", PackageResources.page_js), ("peek.js", PackageResources.peek_js),
        ("picture.js", PackageResources.picture_js),
        ("request-details.js", PackageResources.request_details_js),
        ("requests.js", PackageResources.requests_js), ("scale.js", PackageResources.scale_js),
        ("settings.js", PackageResources.settings_js), ("streams.js", PackageResources.streams_js),
    ]

    /// The document.
    ///
    /// - Parameter host: the server's name and port, as the browser knows them.
    static func response(to host: String) -> InspectorResponse {
        let nonce =
            String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
        return .html(
            html.replacing("{{nonce}}", with: nonce),
            [
                ("Content-Security-Policy", policy(nonce, host)),
                ("Cross-Origin-Opener-Policy", "same-origin"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ])
    }

    /// Content Security Policy Level 3: everything is forbidden but the page's own style, its scripts and what these import,
    /// its feed, and the pictures of responses.
    private static func policy(_ nonce: String, _ host: String) -> String {
        [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'",
            "connect-src 'self' ws://\(host)", "img-src data:", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ].joined(separator: "; ")
    }
}
#endif
