extension String {
    /// A text that may be a URL, quoted for an error message: without user info, query and fragment.
    package var withoutSecrets: String {
        let shown = prefix { $0 != "?" && $0 != "#" }
        guard let at = shown.lastIndex(of: "@") else { return String(shown).debugDescription }
        return String(shown[at...]).debugDescription
    }
}
