// The database compares texts byte by byte; Swift compares letters, which can have different bytes.
extension String {
    /// Whether both texts have the same bytes.
    func hasSameBytes(as other: String) -> Bool {
        var (a, b) = (self, other)
        return a.withUTF8 { a in b.withUTF8 { a.elementsEqual($0) } }
    }

    /// Hashes the bytes of the text.
    func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
