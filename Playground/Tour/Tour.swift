import Foundation

/// Runs recipes one after the other and says how it went.
struct Tour {
    let recipes: [Recipe]
    let baseURL: String
    /// Where another server is that knows the same.
    let standbyURL: String

    /// Whether every recipe ended as it must.
    func run() async -> Bool {
        var broken: [String] = []
        let app = ShopApp(baseURL: baseURL)
        for (index, recipe) in recipes.enumerated() {
            say("\n\(index + 1). \(recipe.title)")
            say("   \(recipe.summary)\n")
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
            say("\nAll \(recipes.count) recipes ended as they must.")
        } else {
            say("\nThese did not end as they must: \(broken.joined(separator: "; "))")
        }
        return broken.isEmpty
    }

    /// Runs a recipe, but not for ever: who waits in vain is cancelled after a minute.
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
            text = "   (\(file) is not where it was built from)"
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
