extension StringProtocol {
    /// Without spaces and tabs at either end.
    package func trimmingBlanks() -> SubSequence {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
