/// Host names in ASCII (RFC 3492 §6.3).
enum Punycode {
    private static let base = 36
    private static let least = 1
    private static let most = 26

    /// A label as in DNS: `bücher` becomes `xn--bcher-kva`. A label that cannot be encoded is returned
    /// unchanged.
    static func label(_ label: String) -> String {
        let scalars = label.unicodeScalars.map { Int($0.value) }
        guard scalars.contains(where: { $0 >= 0x80 }) else { return label }
        guard let encoded = encode(scalars) else { return label }
        return "xn--" + encoded
    }

    private static func encode(_ scalars: [Int]) -> String? {
        // DNS labels have at most 63 bytes; much longer ones are not names, and would take quadratic time.
        guard scalars.count <= 255 else { return nil }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basic = output.count
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (smallest, delta, bias, handled) = (0x80, 0, 72, basic)
        while handled < scalars.count {
            guard let next = scalars.filter({ $0 >= smallest }).min() else { return nil }
            delta += (next - smallest) * (handled + 1)
            smallest = next
            for scalar in scalars {
                if scalar < smallest { delta += 1 }
                guard scalar == smallest else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            smallest += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Encodes a number with digits whose weights depend on their position.
    private static func digits(of number: Int, bias: Int) -> [UInt8] {
        var digits: [UInt8] = []
        var (rest, position) = (number, base)
        while true {
            let threshold = min(max(position - bias, least), most)
            guard rest >= threshold else { return digits + [digit(rest)] }
            digits.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
    }

    /// `a` to `z`, then `0` to `9`.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias = 0
        while delta > (base - least) * most / 2 {
            delta /= base - least
            bias += base
        }
        return bias + (base - least + 1) * delta / (delta + 38)
    }
}
