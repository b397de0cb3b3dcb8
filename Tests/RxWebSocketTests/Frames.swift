/// A frame as bytes, built here by the RFC and not by the code under test. The length is written in
/// `lengthBytes` bytes, or in its shortest form.
func frame(
    _ first: UInt8, _ payload: [UInt8] = [], key: [UInt8]? = nil, lengthBytes: Int? = nil,
    length: UInt64? = nil
) -> [UInt8] {
    let length = length ?? UInt64(payload.count)
    let count = lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8)
    let mask: UInt8 = key == nil ? 0 : 0x80
    var bytes = [first, mask | (count == 0 ? UInt8(length) : count == 2 ? 126 : 127)]
    for place in (0..<count).reversed() {
        bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(8 * place)))
    }
    guard let key else { return bytes + payload }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
}

let rfcKey: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

func text(_ text: String, key: [UInt8]? = nil) -> [UInt8] { frame(0x81, Array(text.utf8), key: key) }

func close(_ code: UInt16, _ reason: String = "", key: [UInt8]? = nil) -> [UInt8] {
    frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8), key: key)
}
