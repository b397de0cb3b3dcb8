#if Inspector
import FoundationEssentials

/// The page of streams: one document, which loads nothing else and runs no other script than its own.
enum StreamPage {
    private static let html = String(decoding: PackageResources.page_html, as: UTF8.self)
    private static let script = String(decoding: PackageResources.page_js, as: UTF8.self)

    /// - Parameter host: the server's name and port, as the browser knows them.
    static func response(to host: String) -> InspectorResponse {
        let nonce =
            String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
        let document = html.replacing("{{nonce}}", with: nonce).replacing("{{script}}", with: script)
        return .html(
            document,
            [
                ("Content-Security-Policy", policy(nonce, host)),
                ("Cross-Origin-Opener-Policy", "same-origin"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ])
    }

    /// Content Security Policy Level 3: everything is forbidden but the page's own style and script, and its feed.
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
