"""Hooks for constraints that the OpenAPI document cannot express."""
import urllib.parse, uuid

import schemathesis

# The keys of shelves, and those of lists.
SORT_KEYS = {
    "price", "unit_price", "popularity", "brand", "name", "created", "modified", "tags", "position",
    "shelf", "manual", "last-modified",
}
FACETS = {"brand", "tag", "in_stock", "price"}
FILTERS = {
    "brand", "tag", "tags_all", "tags_none", "in_stock", "price_min", "price_max", "unit_price_max", "created_after",
    "created_before", "modified_after", "modified_before", "dimension",
}


@schemathesis.hook
def before_call(context, case, **kwargs):
    headers = case.headers or {}
    for name in list(headers):
        # The same key with another request is an error.
        if name.lower() == "idempotency-key":
            headers[name] = str(uuid.uuid4())
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    for name in list(headers):
        # schemathesis ignores the patterns of headers with quotes, so only the examples are valid.
        if name.lower() == "if-match" and headers[name] not in ('"order-7"', '"1187"', '"3-1191"'):
            del headers[name]
    path = case.path_parameters or {}
    if isinstance(path.get("sku"), str) and not urllib.parse.unquote(path["sku"]).isprintable():
        # It ignores a part of this pattern, too.
        path["sku"] = "C1010"
    if isinstance(case.query, dict) and "sku" in case.query:
        # A request names products, or asks for a page of all products of the store.
        case.query = {"sku": case.query["sku"]}
    if isinstance(case.query, dict) and "barcode" in case.query:
        # It is not combined with other parameters.
        case.query = {"barcode": case.query["barcode"]}
    if isinstance(case.query, dict) and (case.operation.path == "/v1/stores/{store}/products" or case.query.get("include")):
        # The manual order is that of one shelf.
        for name in ("sort", "from_sort", "to_sort"):
            terms = [term for term in str(case.query.pop(name, "")).split(",") if term not in ("", "position")]
            if terms:
                case.query[name] = ",".join(terms)
    bodies = case.body if isinstance(case.body, list) else [case.body]
    for values in (case.query, *bodies):
        make_valid(values)


def make_valid(values):
    """Changes what a schema cannot describe in the parameters or properties of a valid request."""
    if not isinstance(values, dict):
        return
    # A cursor is signed by the server. The units of a unit price have tests of their own. The end of a range must not be
    # below its start.
    for name in [name for name in values if name == "cursor" or name.endswith(("_max", "_before"))]:
        del values[name]
    # A key or facet occurs once, and the store has no attributes. The manual order is ascending.
    for name in ("sort", "from_sort", "to_sort", "default_sort", "position_source", "facets"):
        if isinstance(values.get(name), str):
            known = FACETS if name == "facets" else SORT_KEYS
            terms = {term.lstrip("-"): term for term in values[name].split(",") if term != "-position"}
            values[name] = ",".join(term for key, term in terms.items() if key in known) or "price"
    if isinstance(values.get("filter"), dict):
        for name in values["filter"].keys() - FILTERS:
            del values["filter"][name]
    # A search has few words, and a letter or a digit.
    if isinstance(values.get("q"), str):
        values["q"] = " ".join(values["q"][:20].split()[:8])
        if not any(character.isascii() and character.isalnum() for character in values["q"]):
            values["q"] = "milk"
    # The lists of currencies and units are not in the schema.
    if isinstance(values.get("currency"), str):
        values["currency"] = "EUR"
    if isinstance(values.get("size"), dict) and "unit" in values["size"]:
        values["size"]["unit"] = "g"
    # The number of decimals is limited.
    for name in ("quantity", "max_rejects"):
        if isinstance(values.get(name), float):
            values[name] = round(values[name], 3) or 1
    # A pattern for decimals above 0 would need a lookahead, which not all clients know.
    if isinstance(values.get("quantity"), str) and not values["quantity"].strip("0."):
        values["quantity"] = "1"
    # A purchase is not in the future.
    if "event_id" in values and "at" in values:
        values["at"] = "2026-03-02T08:05:00Z"
    for item in values.get("items") or []:
        make_valid(item)
    make_valid(values.get("filter"))
