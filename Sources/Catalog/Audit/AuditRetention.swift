/// How long the entries of the audit log are kept.
package struct AuditRetention: Sendable, Hashable {
    /// The number of days; nil for ever. Months are dropped as a whole, so earlier days may be kept, too.
    package let days: Int?

    /// - Parameter days: 0 for ever, otherwise `minimumDays` or more.
    package init?(days: Int) {
        guard days == 0 || (Self.minimumDays...Self.maximumDays).contains(days) else { return nil }
        self.days = days == 0 ? nil : days
    }

    /// The default: a year, and a month for the review of it.
    package static let standard = AuditRetention(days: 400)!
    /// The owner's functions in the database refuse to drop later entries.
    package static let minimumDays = 31
    package static let maximumDays = 36_500
}
