#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    throw Arguments.Invalid(
        description: "\(arguments.count) requests to \(arguments.url): no transport is linked yet")
} catch {
    print("{\"client\":\"swift\",\"error\":\"\(error)\"}")
    exit(2)
}
