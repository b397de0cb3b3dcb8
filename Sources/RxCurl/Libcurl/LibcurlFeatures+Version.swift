extension LibcurlFeatures {
    /// A version of libcurl, compared by number: 8.4 is older than 8.14.
    public struct Version: Sendable, Hashable {
        /// The number as in libcurl: 8.4.0 is 0x080400 (`version_num`).
        private let number: UInt32

        /// The first component.
        public var major: Int { Int(number >> 16) }
        /// The second component.
        public var minor: Int { Int(number >> 8 & 0xFF) }
        /// The third component.
        public var patch: Int { Int(number & 0xFF) }

        /// Creates a version of three components, each from 0 to 255.
        public init(_ major: UInt8, _ minor: UInt8, _ patch: UInt8 = 0) {
            number = UInt32(major) << 16 | UInt32(minor) << 8 | UInt32(patch)
        }

        init(number: UInt32) { self.number = number & 0xFF_FFFF }
    }
}

extension LibcurlFeatures.Version: Comparable {
    /// Whether `left` is older than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension LibcurlFeatures.Version: CustomStringConvertible {
    /// The three components, separated by dots.
    public var description: String { "\(major).\(minor).\(patch)" }
}
