internal import JSON

// The changes of users' own data, without values of settings and texts of lists.
extension AuditChange {
    /// Returns an edit of settings; nil if none was applied. The subject is the setting if it is the only one.
    package static func settings(_ results: [SettingsEdit.Result]) -> AuditChange? {
        let changed = results.filter(\.isApplied)
        guard let first = changed.first else { return nil }
        func keys(_ areDeleted: Bool) -> JSONValue {
            .array(changed.filter { $0.setting.isDeleted == areDeleted }.map { .string($0.setting.key.text) })
        }
        let detail = [JSONValue.Member("set", keys(false)), .init("deleted", keys(true))]
        return AuditChange(
            .settingsChange,
            changed.count == 1 ? first.setting.key.text : nil,
            detail.filter { $0.value != .array([]) }
        )
    }

    /// Returns a change of a list's membership or existence.
    package static func list(_ action: AuditAction, _ list: UniqueID) -> AuditChange { AuditChange(action, list.text) }

    /// Returns an edit of a list; nil if nothing changed.
    package static func list(_ edit: ListEdit, _ outcome: ListOutcome) -> AuditChange? {
        guard outcome.isChange else { return nil }
        let list = outcome.membership.list
        if case .set = edit, list.isDeleted { return .list(.listDelete, list.id) }
        let name =
            switch edit {
            case .add: "add"
            case .change: "change"
            case .move: "move"
            case .set: "set"
            }
        return AuditChange(
            .listChange,
            list.id.text,
            [.init("edit", .string(name)), .init("items", .integer(outcome.changed.count))]
        )
    }

    package static func shared(_ share: ListShare, _ list: UniqueID) -> AuditChange {
        AuditChange(
            .listShare,
            list.text,
            [.init("share", .string(share.id.text)), .init("role", .string(share.role.rawValue))]
        )
    }

    package static func revoked(_ share: UniqueID, _ list: UniqueID) -> AuditChange {
        AuditChange(.listRevoke, list.text, [.init("share", .string(share.text))])
    }

    package static func joined(_ share: UniqueID, _ list: UniqueID) -> AuditChange {
        AuditChange(.listJoin, list.text, [.init("share", .string(share.text))])
    }

    /// Returns an edit of the order of a user's lists; nil if nothing moved.
    package static func listOrder(_ outcome: ListMoveOutcome) -> AuditChange? {
        outcome.moved.isEmpty ? nil : AuditChange(.listsMove, nil, [.init("count", .integer(outcome.moved.count))])
    }

    package static func merged(_ outcome: GuestMerge) -> AuditChange {
        AuditChange(
            .userMerge,
            nil,
            [.init("merged", .integer(outcome.merged)), .init("kept", .integer(outcome.kept))]
        )
    }

    package static let exported = AuditChange(.userExport)
}
