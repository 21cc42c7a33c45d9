package import Catalog
internal import JSON

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
