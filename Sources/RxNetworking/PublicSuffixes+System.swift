import CLibpsl
public import RxCookies

extension PublicSuffixes {
    /// The Public Suffix List of libpsl: the system's file, which package updates renew, or the list compiled into the
    /// library, whichever is newer. Without either, ``PublicSuffixes/unknown``.
    public static let system: PublicSuffixes = {
        guard let list = SystemList() else { return .unknown }
        return PublicSuffixes { domain in list.contains(domain) }
    }()
}

/// libpsl's list, which is kept as long as the process runs.
@safe
private final class SystemList: @unchecked Sendable {
    // Unchecked: the list is never changed or freed once it is loaded, and lookups keep no
    // state (https://rockdaboot.github.io/libpsl/libpsl-Public-Suffix-List-functions.html, psl_is_public_suffix).
    private let list: OpaquePointer

    init?() {
        guard let list = unsafe psl_latest(nil) else { return nil }
        unsafe self.list = list
    }

    func contains(_ domain: String) -> Bool {
        unsafe psl_is_public_suffix(list, domain) == 1
    }
}
