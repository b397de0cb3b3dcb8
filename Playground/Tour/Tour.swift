import Foundation

/// Runs recipes one after another and reports the outcome.
struct Tour {
    let recipes: [Recipe]
    let baseURL: String
    /// The base URL of a second server with the same data.
    let standbyURL: String

    /// Runs all recipes and returns whether all of them passed.
    func run() async -> Bool {
        var broken: [String] = []
        let app = ShopApp(baseURL: baseURL)
        for (index, recipe) in recipes.enumerated() {
            say("\n\(index + 1). \(recipe.title)")
            say(wrapped(recipe.summary, after: "   ") + "\n")
            say(SourceExcerpt(file: recipe.file).text)
            let stage = Stage(baseURL: baseURL, standbyURL: standbyURL, app: app)
            do {
                try await run(recipe, on: stage)
            } catch {
                stage.expect(false, "\(recipe.title) ends without an error: \(error)")
            }
            stage.panel.close()
            if !stage.broken.isEmpty { broken.append(recipe.title) }
        }
        if broken.isEmpty {
            say("\nAll \(recipes.count) recipes passed.")
        } else {
            say("\nThese recipes failed: \(broken.joined(separator: "; "))")
        }
        return broken.isEmpty
    }

    /// Runs a recipe for at most a minute, after which it is cancelled.
    private func run(_ recipe: Recipe, on stage: Stage) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await recipe.run(stage) }
            group.addTask {
                try await Task.sleep(for: .seconds(60))
                throw TookTooLong()
            }
            try await group.next()
        }
    }

    private struct TookTooLong: Error {}
}

/// The lines of a recipe's file between `// Code` and `// Shown`.
private struct SourceExcerpt {
    let text: String

    init(file: String) {
        guard let source = try? String(contentsOfFile: file, encoding: .utf8) else {
            text = "   (the source file \(file) is not available)"
            return
        }
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let shown = lines.drop { $0.trimmed != "// Code" }.dropFirst().prefix { $0.trimmed != "// Shown" }
        let indent = shown.filter { !$0.trimmed.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        text = shown.map { "   | \($0.dropFirst(indent))" }.joined(separator: "\n") + "\n"
    }
}

extension Substring {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
