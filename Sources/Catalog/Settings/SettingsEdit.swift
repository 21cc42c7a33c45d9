package import JSON

/// An atomic change to a user's settings.
package struct SettingsEdit: Sendable, Hashable {
    /// The new value of one setting.
    package struct Write: Sendable, Hashable {
        package var key: SettingKey
        /// The new value; nil deletes the setting.
        package var value: JSONValue?
        /// When the change was made on a device; the later change wins. nil always wins.
        package var modifiedAt: Timestamp?

        package init(_ key: SettingKey, _ value: JSONValue?, modifiedAt: Timestamp? = nil) {
            self.key = key
            self.value = value
            self.modifiedAt = modifiedAt
        }
    }

    /// A precondition on the written settings.
    package enum Expectation: Sendable, Hashable {
        case unconditional
        /// The settings exist.
        case present
        /// The settings do not exist.
        case absent
        /// The settings exist and have one of these revisions.
        case revision(Set<Int64>)
    }

    package var writes: [Write]
    package var expectation: Expectation
    /// The shelf that must exist, or must have existed just before the write; nil if there is none.
    package var shelf: ShelfAddress?
    /// Whether the exact previous values are needed.
    package var needsPrevious = false

    package init(_ writes: [Write], expecting expectation: Expectation = .unconditional) {
        self.writes = writes
        self.expectation = expectation
    }

    /// The result of a write to one setting.
    package struct Result: Sendable, Hashable {
        /// The setting after the write.
        package var setting: Setting
        /// The setting before the write; nil if it never existed or its tombstone was purged.
        package var previous: Setting?
        /// Whether the write was applied.
        package var isApplied: Bool

        package init(setting: Setting, previous: Setting?, isApplied: Bool) {
            self.setting = setting
            self.previous = previous
            self.isApplied = isApplied
        }
    }

    /// Decides the outcome of each write. `SettingsCombiner` in the database applies the same rules to unconditional writes.
    ///
    /// A future time counts as now, so a fast clock has no advantage. A tie keeps the current value.
    ///
    /// - Parameters:
    ///   - existing: the current settings of the keys, including deleted ones.
    ///   - revision: the user's last revision; each applied write gets the next one.
    /// - Throws: `staleSetting` if the expectation does not hold.
    package func decide(
        _ existing: [SettingKey: Setting],
        after revision: Int64,
        now: Timestamp
    ) throws(CatalogError) -> [Result] {
        var revision = revision
        var results: [Result] = []
        for write in writes {
            let previous = existing[write.key]
            try check(previous)
            let moment = min(write.modifiedAt ?? now, now)
            let wins =
                write.modifiedAt == nil
                ? write.value != nil || previous?.isDeleted == false
                : previous.map { $0.modifiedAt < moment } ?? true
            if wins {
                guard revision < Int64.max else { throw .fault("a user has exhausted the revision counter") }
                revision += 1
                let modifiedAt = max(moment, previous?.modifiedAt ?? moment)
                let setting = Setting(key: write.key, value: write.value, revision: revision, modifiedAt: modifiedAt)
                results.append(Result(setting: setting, previous: previous, isApplied: true))
            } else {
                let unchanged = previous ?? Setting(key: write.key, value: nil, revision: 0, modifiedAt: moment)
                results.append(Result(setting: unchanged, previous: previous, isApplied: false))
            }
        }
        return results
    }

    private func check(_ previous: Setting?) throws(CatalogError) {
        let current = previous.flatMap { $0.isDeleted ? nil : $0.revision }
        let holds =
            switch expectation {
            case .unconditional: true
            case .present: current != nil
            case .absent: current == nil
            case .revision(let expected): current.map { expected.contains($0) } ?? false
            }
        guard holds else { throw .staleSetting(current: current) }
    }

    /// The single unconditional write, if the edit is nothing more.
    package var unconditionalWrite: (key: SettingKey, value: JSONValue)? {
        guard writes.count == 1, expectation == .unconditional, !needsPrevious, writes[0].modifiedAt == nil,
            let value = writes[0].value
        else { return nil }
        return (writes[0].key, value)
    }

    /// Returns the revision before a user's first: microseconds since 1970, so revisions never repeat, even for a user
    /// who was erased and returned. JavaScript represents it exactly up to 2⁵³, which is the year 2255.
    package static func firstRevision(_ now: Timestamp) -> Int64 { now.microseconds }

    package static func tooManySettings() -> CatalogError {
        .unprocessable(
            field: "key",
            detail: "a user can have at most \(Setting.countLimit) settings; delete settings that are no longer needed"
        )
    }
}
