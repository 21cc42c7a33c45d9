/** The page's texts; those of sorts and filters come from the server. */
export const texts = {
  en: {
    skip: "Skip to the products", language: "Language", shelves: "Shelves", sort: "Sort", turn: "Turn the order round", filter: "Filter",
    close: "Close", clear: "Show everything", wire: "What the last change took", soldOut: "Sold out", noPrice: "No price",
    empty: "Nothing on this shelf fits.", emptyShelf: "This shelf is empty.", loading: "Loading …", more: "Loading more …", noStores: "There is no store yet: import a catalog, or run aisle seed.",
    away: "The server is away. What you see stays; it goes on by itself.", wrong: "That did not work:", without: "without", upTo: "up to", from: "from",
    inStock: "In stock", brand: "Brand", tag: "Tag", price: "Price", any: "Any",
    products: (n, all) => (n === all ? `${all} products` : `${n} of ${all} products`),
    moves: (moves, of, bytes, ms) => `${moves} moves of ${of}, ${bytes}, ${ms} ms`,
  },
  ru: {
    skip: "К товарам", language: "Язык", shelves: "Полки", sort: "Порядок", turn: "Обратный порядок", filter: "Фильтр",
    close: "Закрыть", clear: "Показать всё", wire: "Чего стоило последнее изменение", soldOut: "Нет в наличии", noPrice: "Без цены",
    empty: "На этой полке ничего не подходит.", emptyShelf: "Эта полка пуста.", loading: "Загрузка …", more: "Ещё товары …", noStores: "Магазинов пока нет: загрузите каталог или выполните aisle seed.",
    away: "Сервер недоступен. То, что на экране, остаётся; всё продолжится само.", wrong: "Не получилось:", without: "без", upTo: "до", from: "от",
    inStock: "В наличии", brand: "Бренд", tag: "Метка", price: "Цена", any: "Любая",
    products: (n, all) => (n === all ? `Товаров: ${all}` : `Товаров: ${n} из ${all}`),
    moves: (moves, of, bytes, ms) => `перемещений ${moves} из ${of}, ${bytes}, ${ms} мс`,
  },
};
