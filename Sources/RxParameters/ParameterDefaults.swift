package import FoundationEssentials

/// A client's format, style and encoder, for parameters without own ones.
package struct ParameterDefaults: Sendable {
    /// The format of standard parameters, for methods with content.
    package let format: ParameterFormat
    /// How lists and nested objects are written.
    package let style: ParameterStyle
    /// Encodes models.
    package let encoder: JSONEncoder

    package init(format: ParameterFormat, style: ParameterStyle, encoder: JSONEncoder) {
        self.format = format
        self.style = style
        self.encoder = encoder
    }
}
