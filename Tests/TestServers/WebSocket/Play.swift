/// The actions of the server in a case.
enum Play: Sendable {
    case script(Script)
    case exchange(Exchange)
}
