extension Int64 {
    /// Parses an integer, also one with a fraction of zero: 24.0 is an integer, as in JSON Schema.
    package init?(integral text: some StringProtocol) {
        if let value = Int64(text) {
            self = value
            return
        }
        guard let integral = ExactDecimal(text)?.significand(atScale: 0), let value = Int64(exactly: integral) else {
            return nil
        }
        self = value
    }
}
