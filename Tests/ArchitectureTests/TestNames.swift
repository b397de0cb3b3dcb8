import Foundation

/// The tests of a file, as pages name them.
enum TestNames {
    /// The functions that are tests, each with the type around it.
    static func all(in text: String) -> [(suite: String, function: String)] {
        var (suite, isMarked) = ("", false)
        var names: [(suite: String, function: String)] = []
        for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
            // The formatter indents the members of a type.
            if !line.hasPrefix(" "),
                let type = line.firstMatch(of: #/\b(?:struct|class|enum|actor|extension) (\w+)/#)
            {
                suite = String(type.1)
            }
            if line.contains("@Test") { isMarked = true }
            if isMarked, let function = line.firstMatch(of: #/\bfunc (\w+)\(/#) {
                names.append((suite, String(function.1)))
                isMarked = false
            }
        }
        return names
    }
}
