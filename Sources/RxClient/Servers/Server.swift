import FoundationEssentials
import RxHTTP
import RxParameters

/// One server of a service, with its parsed base URL.
final class Server: Sendable {
    /// The base URL as given.
    let baseURL: String
    /// The base URL without a trailing slash: the start of the URLs of its paths.
    let stem: String
    /// The path of the base URL without a trailing slash, such as `/v1`; empty if it has none.
    let basePath: String
    /// The stem, if it contains nothing to escape and paths can be appended.
    private let stemText: URLText?
    /// The origin; `nil` if the base URL is not an absolute http or https URL.
    let origin: Origin?
    /// Whether paths can be appended: the base URL has neither query nor fragment.
    let takesPaths: Bool
    /// The client's state of the host, if there is a valid origin.
    let host: HostState?

    init(_ baseURL: String, in hosts: HostRegistry) {
        self.baseURL = baseURL
        stem = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        origin = URL(string: baseURL).flatMap { Origin($0) }
        let path = URL(string: stem)?.path() ?? ""
        basePath = path == "/" ? "" : path
        takesPaths = !baseURL.contains { $0 == "?" || $0 == "#" }
        host = origin.map { hosts[$0] }
        stemText = origin != nil && takesPaths ? URLText(stem) : nil
    }

    /// The URL of a path below the base URL that begins with a slash and contains nothing to escape; `nil`
    /// for other paths.
    func plainURL(of path: String) -> URLText? {
        path.hasDotSegments ? nil : stemText?.appending(path)
    }

    /// Whether `url` is below the base URL.
    func includes(_ url: String) -> Bool {
        guard origin != nil, takesPaths, url.utf8.hasPrefix(stem.utf8) else { return false }
        let end = url.utf8.index(url.startIndex, offsetBy: stem.utf8.count)
        guard end < url.utf8.endIndex else { return true }
        let next = url.utf8[end]
        return next == UInt8(ascii: "/") || next == UInt8(ascii: "?") || next == UInt8(ascii: "#")
    }

    /// The part of `url` after the base URL; `nil` if `url` is not below it.
    func path(of url: String) -> Substring? {
        includes(url) ? Substring(url.utf8.dropFirst(stem.utf8.count)) : nil
    }
}

extension String.UTF8View {
    /// Whether these bytes begin with `prefix`. It runs for each traced request, hence without iterators.
    fileprivate func hasPrefix(_ prefix: Self) -> Bool {
        let isPrefix = unsafe withContiguousStorageIfAvailable { bytes in
            unsafe prefix.withContiguousStorageIfAvailable { prefix in
                prefix.count <= bytes.count && prefix.indices.allSatisfy { unsafe bytes[$0] == prefix[$0] }
            }
        }
        return isPrefix.flatMap { $0 } ?? starts(with: prefix)
    }
}
