package import JSON
internal import Catalog

extension [ImportRejection] {
    package func write(to json: inout JSONWriter) {
        json.array("rejects", self) { json, rejection in
            json.object { json in
                json.field("line", rejection.line)
                json.field("column", rejection.column)
                json.field("value", rejection.value)
                json.field("reason", rejection.reason)
            }
        }
    }
}
