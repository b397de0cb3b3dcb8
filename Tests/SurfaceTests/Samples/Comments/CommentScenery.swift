import FoundationEssentials
import RxNetworking

// The context of the samples in doc comments, beside that of the pages. A comment shows expressions whose results the
// reader uses; here a builder takes them.

@resultBuilder
enum Statements {
    static func buildExpression<Value>(_ value: Value) -> Any { value }
    static func buildBlock(_ parts: Any...) -> [Any] { parts }
}

/// Anything that shows a state.
final class Widget: Sendable {
    func show(_: some Sendable) {}
    func hide(_: some Sendable) {}
    var isOn: Bool {
        get { false }
        set { show(newValue) }
    }
    var isVisible: Bool {
        get { false }
        set { show(newValue) }
    }
    var text: String? {
        get { nil }
        set { show(newValue) }
    }
    var isHidden: Bool {
        get { false }
        set { show(newValue) }
    }
}

let lamp = Widget(), badge = Widget(), toast = Widget(), indicator = Widget(), bar = Widget(),
    spinner = Widget()
let url = URL(string: "https://api.example.com/v1/goods")!

func report(_: some Sendable, _: some Sendable) {}
func submit() {}

struct User: Decodable, Sendable {
    let id: Int
}

/// Rows of a database.
struct Rows: Sendable {
    func rows(at _: PagePosition?) -> Observable<(rows: [Goods], count: Int), NetworkError> { .never() }
}
