#if Inspector
/// The domains besides Network, of which a front end asks some when it opens: empty results, as a page without contents
/// would give them.
enum OtherDomains {
    static func answer(_ command: Command) throws(Command.Failure) -> JSON {
        throw .unknownMethod(command.method)
    }
}
#endif
