internal import Catalog
internal import HTTPTypes

/// What a path behind `/v1/me/lists` names.
enum ListRoute {
    case all, moves, join
    case one(UniqueID)
    case items(UniqueID)
    case item(UniqueID, UniqueID)
    case itemMoves(UniqueID)
    case shares(UniqueID)
    case share(UniqueID, UniqueID)

    init?(_ parts: ArraySlice<String>) {
        let parts = Array(parts)
        if parts.isEmpty {
            self = .all
            return
        }
        if parts == ["order", "moves"] {
            self = .moves
            return
        }
        if parts == ["join"] {
            self = .join
            return
        }
        guard let list = UniqueID(parts[0]) else { return nil }
        switch (parts.count, parts.dropFirst().first) {
        case (1, nil): self = .one(list)
        case (2, "items"): self = .items(list)
        case (2, "shares"): self = .shares(list)
        case (3, "order") where parts[2] == "moves": self = .itemMoves(list)
        case (3, "items"):
            guard let item = UniqueID(parts[2]) else { return nil }
            self = .item(list, item)
        case (3, "shares"):
            guard let share = UniqueID(parts[2]) else { return nil }
            self = .share(list, share)
        default: return nil
        }
    }

    var methods: [HTTPRequest.Method] {
        switch self {
        case .all, .shares: [.get, .post]
        case .moves, .join, .itemMoves: [.post]
        case .one, .item: [.get, .patch, .delete]
        case .items: [.get, .post, .patch]
        case .share: [.delete]
        }
    }
}
