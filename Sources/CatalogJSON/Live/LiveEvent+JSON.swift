package import Catalog
internal import JSON

extension LiveEvent {
    package static func start(_ revision: Int64) -> LiveEvent {
        LiveEvent(.start, id: revision, data: JSONWriter.object { $0.field("revision", revision) })
    }

    package static func gap(_ revision: Int64) -> LiveEvent {
        let data = JSONWriter.object { json in
            json.field("revision", revision)
            json.field("resync", true)
        }
        return LiveEvent(.gap, id: revision, data: data)
    }

    package static func gone(_ version: Int64) -> LiveEvent { LiveEvent(.gone, id: version, data: Array("{}".utf8)) }
}

extension UserEvent {
    /// The data of the event: single-line JSON.
    package var json: [UInt8] {
        switch self {
        case .setting(let setting): setting.json
        case .list(let outcome): outcome.event
        case .newList(let list): list.announcement
        case .leftList(let id):
            JSONWriter.object { json in
                json.object("list") { json in
                    json.field("id", id.text)
                    json.field("deleted", true)
                }
            }
        case .listOrder(let outcome): outcome.json
        }
    }
}
