#if Auth
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite

extension AWSCredentials {
    /// The keys of a profile in the files `~/.aws/credentials` and `~/.aws/config`.
    ///
    /// The variables `AWS_SHARED_CREDENTIALS_FILE` and `AWS_CONFIG_FILE` name other files. A profile has keys itself, or
    /// a `role_arn` to assume with the keys of its `source_profile`, of its `credential_source`, or with the token in its
    /// `web_identity_token_file`. `AWS_REGION`, `AWS_DEFAULT_REGION` or the `region` of the profile, in this order, is the
    /// region in which the role is assumed. The files are read once, when keys are needed. Profiles that start a process or
    /// log in through a browser (`credential_process`, `sso_session`) are refused.
    ///
    /// - Parameter name: the name of the profile. Default: the variable `AWS_PROFILE`, or `default`.
    public static func profile(_ name: String? = nil) -> AWSCredentials {
        profile(name, ProcessInfo.processInfo.environment)
    }

    static func profile(_ name: String?, _ variables: [String: String]) -> AWSCredentials {
        let name = name ?? variables.setting("AWS_PROFILE") ?? "default"
        let chosen = ChosenSource()
        return AWSCredentials(named: "profile \(name)") { context in
            if let source = chosen.source { return source.credential(in: context) }
            return AWSProfiles.read(variables, context.files)
                .flatMap { profiles throws(NetworkError) -> Observable<AWSCredential, NetworkError> in
                    let source = try profiles.source(of: name, variables)
                    chosen.choose(source)
                    return source.credential(in: context)
                }
        }
    }
}

/// The profiles in the files of a user.
struct AWSProfiles: Sendable {
    /// The settings of each profile by its name.
    private(set) var profiles: [String: [String: String]] = [:]
    /// The names of the files that exist.
    private var files: [String] = []

    private static let limit = 1 << 20

    init() {}

    /// Adds the sections of a file.
    ///
    /// - Parameter isConfig: whether the names of profiles have the prefix `profile`.
    mutating func add(_ bytes: [UInt8], isConfig: Bool) {
        var name: String?
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            // An indented line is part of a nested setting, none of which is about keys.
            guard let first = line.first, first != 0x20, first != 0x09 else { continue }
            let text = String(decoding: line, as: UTF8.self)
            switch first {
            case UInt8(ascii: "#"), UInt8(ascii: ";"): continue
            case UInt8(ascii: "["):
                name = text.firstIndex(of: "]").flatMap { end in
                    Self.name(ofSection: text[text.index(after: text.startIndex)..<end], isConfig: isConfig)
                }
            default:
                guard let name, let equals = text.firstIndex(of: "=") else { continue }
                let key = String(text[..<equals]).trimmedLine.lowercased()
                var value = text[text.index(after: equals)...]
                for mark in [" #", " ;", "\t#", "\t;"] {
                    if let comment = value.firstRange(of: mark) { value = value[..<comment.lowerBound] }
                }
                profiles[name, default: [:]][key] = String(value).trimmedLine
            }
        }
    }

    private static func name(ofSection section: Substring, isConfig: Bool) -> String? {
        let text = String(section).trimmedLine
        guard isConfig, text != "default" else { return text }
        guard text.hasPrefix("profile "), !text.dropFirst(8).isEmpty else { return nil }
        return String(text.dropFirst(8)).trimmedLine
    }

    /// The profiles in the files that the environment names.
    static func read(
        _ variables: [String: String], _ files: any FileSystem
    ) -> Observable<AWSProfiles, NetworkError> {
        let home = variables["HOME"] ?? ""
        let credentials = variables.setting("AWS_SHARED_CREDENTIALS_FILE") ?? home + "/.aws/credentials"
        let config = variables.setting("AWS_CONFIG_FILE") ?? home + "/.aws/config"
        let contents = [config, credentials].map { path in
            files.smallFile(path, limit: limit).map { (path, $0) }
        }
        return Observable.concat(contents).collect().map { contents in
            var profiles = AWSProfiles()
            // Keys in the file of credentials replace those in the configuration.
            for (path, bytes) in contents {
                guard let bytes else { continue }
                profiles.files.append(path)
                profiles.add(bytes, isConfig: path == config)
            }
            return profiles
        }
        .mapError { error in
            error.code == .noCredentials
                ? error : .noCredentials("the AWS profiles cannot be read", because: error)
        }
    }

    /// The source of the keys of the user's profile; `nil` if the user has none that says where keys are.
    ///
    /// - Throws: `noCredentials` for a profile that is named and does not exist, or whose keys cannot be had.
    func configuredSource(_ variables: [String: String]) throws(NetworkError) -> AWSCredentials? {
        let named = variables.setting("AWS_PROFILE")
        let name = named ?? "default"
        guard let profile = profiles[name] else {
            return named == nil ? nil : try source(of: name, variables)
        }
        let isSource = Self.sources.contains { profile[$0] != nil }
        return isSource ? try source(of: name, variables) : nil
    }

    /// The settings that say where the keys of a profile are. ``keys(of:_:)`` refuses the last three by name.
    private static let sources = [
        "aws_access_key_id", "role_arn", "web_identity_token_file", "credential_process", "sso_session",
        "sso_start_url",
    ]

    /// The source of a profile's keys.
    ///
    /// - Throws: `noCredentials` for a profile that does not exist, has no keys, or refers to itself.
    func source(
        of name: String, _ variables: [String: String], from visited: Set<String> = []
    ) throws(NetworkError) -> AWSCredentials {
        guard let profile = profiles[name] else {
            throw .noCredentials(
                files.isEmpty ? "there is no file with AWS profiles" : "there is no AWS profile \(name)")
        }
        if let role = profile["role_arn"] {
            if let file = profile["web_identity_token_file"] {
                return .webIdentity(
                    role: role, tokenFile: file, sessionName: profile["role_session_name"],
                    region: variables.region(profile))
            }
            return .assumingRole(
                role, sessionName: profile["role_session_name"], externalID: profile["external_id"],
                for: .seconds(profile["duration_seconds"].flatMap(Int.init) ?? 3600),
                region: variables.region(profile),
                with: try base(of: name, profile, variables, visited))
        }
        return try .fixed(keys(of: name, profile))
    }

    /// The source of the keys with which a profile's role is assumed.
    private func base(
        of name: String, _ profile: [String: String], _ variables: [String: String], _ visited: Set<String>
    ) throws(NetworkError) -> AWSCredentials {
        if let source = profile["source_profile"] {
            if source == name { return try .fixed(keys(of: name, profile)) }
            guard !visited.contains(source) else {
                throw .noCredentials("the AWS profile \(name) refers to itself through source_profile")
            }
            return try self.source(of: source, variables, from: visited.union([name]))
        }
        switch profile["credential_source"] {
        case "Environment": return .environment(variables)
        case "Ec2InstanceMetadata": return .instance(variables)
        case "EcsContainer": return .container(variables)
        default:
            throw .noCredentials(
                "the AWS profile \(name) has a role, but no source_profile or credential_source")
        }
    }

    private func keys(of name: String, _ profile: [String: String]) throws(NetworkError) -> AWSCredential {
        guard let id = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] else {
            let other = ["credential_process", "sso_session", "sso_start_url"].first { profile[$0] != nil }
            guard profile["web_identity_token_file"] == nil else {
                throw .noCredentials(
                    "the AWS profile \(name) has a web_identity_token_file, but no role_arn")
            }
            throw .noCredentials(
                "the AWS profile \(name) has no keys"
                    + (other.map {
                        "; \($0) is not supported, fetch its keys with AWSCredentials(named:fetch:)"
                    } ?? ""))
        }
        return AWSCredential(
            accessKeyID: id, secretAccessKey: secret, sessionToken: profile["aws_session_token"])
    }
}

extension AWSProfiles: RedactedDescription {
    /// The number of profiles.
    public var description: String { "\(profiles.count) AWS profiles" }
}
#endif
