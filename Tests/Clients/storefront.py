"""A small storefront that only uses the client that openapi-python-client generated."""
import io

from aisle_client import AuthenticatedClient, Client
from aisle_client.api.diffs import diff_sorts
from aisle_client.api.imports import import_products
from aisle_client.api.list_items import add_list_items, get_list_items
from aisle_client.api.lists import create_list
from aisle_client.api.orders import get_order, list_order_changes, move_products, undo_order_change
from aisle_client.api.products import get_product, patch_product
from aisle_client.api.remembered_sorts import get_remembered_sort, remember_sort
from aisle_client.api.settings import put_setting
from aisle_client.api.shelf_products import list_shelf_products
from aisle_client.api.shelves import list_shelves
from aisle_client.api.stores import list_stores
from aisle_client.models import (
    Diff, ImportResult, ListInput, ListItemInput, ListItemInputs, ManualMove, ManualMoves, Page, PlaceAtEnd, Problem,
    ProductPatch, RememberedSortInput, SettingInput, UndoInput,
)
from aisle_client.types import File


def run(base, token):
    guest, ann = Client(base_url=base), AuthenticatedClient(base_url=base, token=token)
    with guest as guest, ann as ann:
        store = list_stores.sync(client=guest).stores[0].key
        assert store == "corner", store
        shelves = list_shelves.sync(store, client=guest).shelves
        assert "dairy" in [shelf.key for shelf in shelves]

        # All pages of a shelf, in the order of the unit price.
        products, cursor = [], None
        while True:
            page = list_shelf_products.sync(store, "dairy", client=guest, sort="unit_price", limit=5, **({"cursor": cursor} if cursor else {}))
            assert isinstance(page, Page), page
            products += page.products
            if not (cursor := page.page.next_cursor):
                break
        assert len({product.sku for product in products}) == len(products) > 5
        milk = get_product.sync(store, products[0].sku, client=guest)
        assert milk.name == products[0].name and milk.price_minor > 0 and milk.unit_price

        # The steps that animate a change of the sort.
        diff = diff_sorts.sync(store, "dairy", client=guest, from_sort="price", to_sort="name")
        assert isinstance(diff, Diff) and diff.moves, diff
        wrong = diff_sorts.sync(store, "dairy", client=guest, from_sort="prise")
        assert isinstance(wrong, Problem) and wrong.type_ == "/problems/unknown-sort-key", wrong

        # The settings and the list of a shopper.
        assert remember_sort.sync(store, "dairy", client=ann, body=RememberedSortInput(sort="-unit_price")).sort == "-unit_price"
        assert get_remembered_sort.sync(store, "dairy", client=ann).sort == "-unit_price"
        assert put_setting.sync("theme", client=ann, body=SettingInput(value="dark")).value == "dark"
        shopping = create_list.sync(client=ann, body=ListInput(name="Weekend"))
        items = ListItemInputs(items=[ListItemInput(store=store, sku=milk.sku, quantity="2"), ListItemInput(text="Flour")])
        add_list_items.sync(shopping.id, client=ann, body=items)
        assert len(get_list_items.sync(shopping.id, client=ann).items) == 2

        # The work of a merchandiser.
        order = get_order.sync(store, "dairy", client=guest, sort="position")
        last = order.ids[-1]
        moved = move_products.sync_detailed(
            store, "dairy", client=ann, if_match=f'"order-{order.order_version}"',
            body=ManualMoves(moves=[ManualMove(ids=[last], place=PlaceAtEnd.FIRST)]))
        assert moved.status_code == 200 and get_order.sync(store, "dairy", client=guest, sort="position").ids[0] == last
        change = list_order_changes.sync(store, "dairy", client=ann).changes[0].number
        undo_order_change.sync(store, "dairy", client=ann, body=UndoInput(change=change))
        assert get_order.sync(store, "dairy", client=guest, sort="position").ids == order.ids
        cheaper = patch_product.sync(store, milk.sku, client=ann, body=ProductPatch(price_minor=milk.price_minor - 1))
        assert cheaper.price_minor == milk.price_minor - 1
        file = File(io.BytesIO(b"sku,name,price,shelves\nX1,Alma kefir 500 g,1.29,dairy\nX2,Alma skyr 150 g,abc,dairy\n"))
        imported = import_products.sync(store, client=ann, body=file, dry_run=True, max_rejects=50)
        assert isinstance(imported, ImportResult) and imported.dry_run and imported.inserted == 1 and imported.rejected == 1, imported
