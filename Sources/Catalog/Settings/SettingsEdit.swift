/// What is to be changed of a user's settings, all or none.
package struct SettingsEdit: Sendable, Hashable {
    package struct Write: Sendable, Hashable {
        package var key: SettingKey
        /// nil deletes.
        package var value: JSONValue?
        /// When it was changed on a device; the later change wins. nil for now, whatever stands there.
        package var modifiedAt: Timestamp?

        package init(_ key: SettingKey, _ value: JSONValue?, modifiedAt: Timestamp? = nil) {
            self.key = key
            self.value = value
            self.modifiedAt = modifiedAt
        }
    }

    /// What must hold of the settings that are written.
    package enum Expectation: Sendable, Hashable {
        case nothing
        /// They are there.
        case present
        /// They are not there.
        case absent
        /// They are there, of one of these revisions.
        case revision(Set<Int64>)
    }

    package var writes: [Write]
    package var expectation: Expectation
    /// Whether what stood there before must be exactly that.
    package var needsPrevious = false

    package init(_ writes: [Write], expecting expectation: Expectation = .nothing) {
        self.writes = writes
        self.expectation = expectation
    }

    /// What a change did to one setting.
    package struct Result: Sendable, Hashable {
        /// As it stands now.
        package var setting: Setting
        /// As it stood before; nil for one that there never was, or that is forgotten.
        package var previous: Setting?
        /// Whether what was asked for is what stands.
        package var isApplied: Bool

        package init(setting: Setting, previous: Setting?, isApplied: Bool) {
            self.setting = setting
            self.previous = previous
            self.isApplied = isApplied
        }
    }

    /// Decides what is written: the heart of every store of settings.
    ///
    /// A device's clock that runs ahead wins nothing: a time in the future counts as now. A tie goes to what stands.
    ///
    /// - Parameters:
    ///   - existing: what stands under the keys, deleted ones too.
    ///   - revision: the user's last one; each that is written gets the next.
    /// - Throws: `staleSetting` where the expectation does not hold.
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
                let standing = previous ?? Setting(key: write.key, value: nil, revision: 0, modifiedAt: moment)
                results.append(Result(setting: standing, previous: previous, isApplied: false))
            }
        }
        return results
    }

    private func check(_ previous: Setting?) throws(CatalogError) {
        let current = previous.flatMap { $0.isDeleted ? nil : $0.revision }
        let holds =
            switch expectation {
            case .nothing: true
            case .present: current != nil
            case .absent: current == nil
            case .revision(let expected): current.map { expected.contains($0) } ?? false
            }
        guard holds else { throw .staleSetting(current: current) }
    }

    /// The one setting that is set, where that is all and nothing is expected of it.
    package var plainWrite: (key: SettingKey, value: JSONValue)? {
        guard writes.count == 1, expectation == .nothing, !needsPrevious, writes[0].modifiedAt == nil,
            let value = writes[0].value
        else { return nil }
        return (writes[0].key, value)
    }

    /// The revision before a user's first: microseconds since 1970, so that revisions never repeat, not even for a user
    /// who was erased and came back. JavaScript's numbers are exact up to 2⁵³: until the year 2255.
    package static func firstRevision(_ now: Timestamp) -> Int64 { now.microseconds }

    package static func tooMany() -> CatalogError {
        .unprocessable(
            field: "key",
            detail: "a user has at most \(Setting.countLimit) settings; delete some that are not needed any more"
        )
    }
}
