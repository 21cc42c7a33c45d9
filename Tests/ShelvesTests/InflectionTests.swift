import Catalog
import Testing

@testable import Shelves

@Suite struct InflectionTests {
    /// Pairs of words of one language, one pair in each line.
    private static func pairs(_ text: String) -> [(String, String)] {
        text.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            precondition(words.count == 2, "a line has two words")
            return (String(words[0]), String(words[1]))
        }
    }

    private static func areForms(_ inflection: Inflection, _ a: String, _ b: String) -> Bool {
        let (x, y) = (FoldedText(a), FoldedText(b))
        return inflection.areForms(x.bytes[...], y.bytes[...])
    }

    @Test("Forms of a word match, and other words do not", arguments: InflectionLanguage.allCases)
    func pairs(_ language: InflectionLanguage) {
        let inflection = Inflection([language])
        let (matching, different) = (Self.pairs(language.matching), Self.pairs(language.different))
        #expect(matching.count >= 60 && different.count >= 40)
        for (a, b) in matching {
            #expect(Self.areForms(inflection, a, b) && Self.areForms(inflection, b, a), "\(a) \(b)")
        }
        for (a, b) in different {
            #expect(!Self.areForms(inflection, a, b) && !Self.areForms(inflection, b, a), "\(a) \(b)")
        }
    }

    @Test("A word is not a form of itself, and numbers and words of other languages have no forms")
    func limits() {
        let english = Inflection([.english])
        #expect(!Self.areForms(english, "apple", "apple") && !Self.areForms(english, "330", "330"))
        #expect(!Self.areForms(english, "1", "1") && !Self.areForms(Inflection(), "apple", "apples"))
        #expect(!Self.areForms(english, "jabuka", "jabuke") && !Self.areForms(english, "gas", "ga"))
        let both = Inflection([.english, .croatian])
        #expect(Self.areForms(both, "apple", "apples") && Self.areForms(both, "jabuka", "jabuke"))
        #expect(!both.areForms([], []) && !both.areForms([], Array("s".utf8)[...]))
    }

    @Test(
        "A language is that of a tag",
        arguments: [
            ("en", .english), ("de-AT", .german), ("HR", .croatian), ("ru-Cyrl-RU", .russian), ("fr", nil), ("", nil),
            ("english", nil), ("-en", nil),
        ] as [(String, InflectionLanguage?)]
    )
    func tags(_ tag: String, _ language: InflectionLanguage?) {
        #expect(InflectionLanguage(tag: tag) == language)
    }
}

extension InflectionLanguage {
    fileprivate var matching: String {
        switch self {
        case .english:
            """
            apple apples
            egg eggs
            pea peas
            pie pies
            bean beans
            banana bananas
            olive olives
            cookie cookies
            brownie brownies
            chive chives
            clove cloves
            sausage sausages
            cheese cheeses
            juice juices
            slice slices
            onion onions
            carrot carrots
            nut nuts
            grape grapes
            plum plums
            pear pears
            lemon lemons
            orange oranges
            roll rolls
            chip chips
            crisp crisps
            wipe wipes
            diaper diapers
            napkin napkins
            towel towels
            tomato tomatoes
            potato potatoes
            mango mangoes
            mango mangos
            avocado avocados
            dish dishes
            radish radishes
            peach peaches
            sandwich sandwiches
            box boxes
            mix mixes
            glass glasses
            toothbrush toothbrushes
            berry berries
            cherry cherries
            strawberry strawberries
            candy candies
            fry fries
            pastry pastries
            jelly jellies
            anchovy anchovies
            battery batteries
            leaf leaves
            loaf loaves
            half halves
            knife knives
            wife wives
            elf elves
            sky skies
            shelf shelves
            child children
            tooth teeth
            goose geese
            woman women
            man men
            gas gases
            lens lenses
            person people
            """
        case .german:
            """
            Apfel Äpfeln
            Äpfel Apfels
            Brot Brote
            Brote Broten
            Brot Brotes
            Ei Eier
            Eier Eiern
            Tomate Tomaten
            Kartoffel Kartoffeln
            Zwiebel Zwiebeln
            Nudel Nudeln
            Birne Birnen
            Beere Beeren
            Erdbeere Erdbeeren
            Himbeere Himbeeren
            Kirsche Kirschen
            Pflaume Pflaumen
            Zitrone Zitronen
            Orange Orangen
            Banane Bananen
            Gurke Gurken
            Karotte Karotten
            Bohne Bohnen
            Erbse Erbsen
            Linse Linsen
            Olive Oliven
            Nuss Nüsse
            Nüsse Nüssen
            Haselnuss Haselnüsse
            Pilz Pilze
            Pilze Pilzen
            Salat Salate
            Saft Säfte
            Säfte Säften
            Wein Weine
            Weine Weines
            Bier Biere
            Joghurt Joghurts
            Tee Tees
            Huhn Hühner
            Hühner Hühnern
            Blatt Blätter
            Rind Rinder
            Kind Kinder
            Glas Gläser
            Glas Glases
            Fisch Fische
            Wurst Würste
            Würste Würsten
            Torte Torten
            Suppe Suppen
            Sauce Saucen
            Dose Dosen
            Flasche Flaschen
            Semmel Semmeln
            Keks Kekse
            Kekse Keksen
            Riegel Riegeln
            Windel Windeln
            Pizza Pizzen
            Pizza Pizzas
            Cola Colas
            frisch frische
            frische frischer
            frisches frischem
            mild milde
            milder milden
            Kuchen Kuchens
            Messer Messern
            Erzeugnis Erzeugnisse
            """
        case .croatian:
            """
            jabuka jabuke
            jabuka jabuci
            jabuku jabukama
            kruška kruške
            kruška krušaka
            banana banane
            bananom bananama
            riba ribe
            ribu ribom
            kava kave
            kavu kavom
            voda vode
            juha juhe
            juhi juhom
            salata salate
            čokolada čokolade
            čokoladu čokoladom
            šunka šunke
            šunka šunki
            rajčica rajčice
            marelica marelice
            višnja višnje
            breskva breskve
            sol soli
            sol solju
            mast masti
            sir sira
            sir sirevi
            sireva sirevima
            luk lukovi
            kruh kruha
            kruh kruhovi
            čaj čaja
            čaj čajevi
            med medovi
            sok sokovi
            sok soka
            krumpir krumpiri
            krumpira krumpirom
            jogurt jogurti
            keks keksi
            keksa keksima
            kolač kolači
            sendvič sendviči
            limun limuna
            bubreg bubrezi
            bubreg bubrega
            orah orasi
            oraha orasima
            grašak graška
            krastavac krastavci
            krastavca krastavcima
            lonac lonci
            papar papra
            mlijeko mlijeka
            mlijeku mlijekom
            meso mesa
            maslo maslom
            ulje ulja
            ulju uljem
            jaje jaja
            jajima jajem
            voće voća
            povrće povrća
            pile pileta
            svjež svježi
            svježa svježeg
            zelen zelene
            crveni crvenog
            bijeli bijelog
            domaći domaća
            mliječan mliječna
            mliječni mliječnog
            kiseo kisela
            kiselo kiseli
            topao topla
            ocat octa
            dijete djeca
            """
        case .russian:
            """
            рыба рыбы
            рыбу рыбой
            вода воды
            водой водами
            колбаса колбасы
            колбаса колбас
            сметана сметаны
            капуста капусту
            конфета конфеты
            конфета конфет
            груша груши
            груша груш
            булка булки
            булка булок
            сосиска сосисок
            чашка чашек
            чашка чашки
            водка водки
            мука муки
            дыня дыни
            дыня дынь
            вишня вишни
            вишня вишен
            вишня вишнями
            капля капель
            соль соли
            соль солью
            морковь моркови
            печень печени
            печень печенью
            сыр сыры
            сыра сыром
            хлеб хлеба
            хлеб хлебом
            банан бананы
            бананов бананами
            сок соки
            сок соков
            орех орехи
            орех орехов
            огурец огурцы
            огурец огурцов
            перец перца
            помидор помидоры
            апельсин апельсинов
            творог творога
            творожок творожки
            сырок сырка
            картофель картофеля
            картофель картофелем
            чай чая
            чай чаи
            чаем чаев
            молоко молока
            молоку молоком
            мясо мяса
            вино вина
            вино вином
            масло масла
            масло масел
            яйцо яйца
            яйцо яиц
            печенье печенья
            печенье печеньем
            варение варения
            свежий свежая
            свежего свежее
            белый белое
            белого белым
            жёлтый желтые
            сладкая сладких
            ребёнок дети
            """
        }
    }

    fileprivate var different: String {
        switch self {
        case .english:
            """
            glass glas
            bass bas
            news new
            mars mar
            gas ga
            bus busy
            as a
            is i
            plum plumber
            date data
            pasta past
            pear pea
            pear pearl
            bean bead
            bread breed
            corn cork
            butter butt
            butter butler
            milk milky
            salt salted
            salt salad
            oil olive
            ham hamburger
            rice ricer
            price rice
            soap soup
            soda sofa
            beer beet
            wine winery
            cream crime
            jam jar
            mint mince
            lime lemon
            leaf leave
            tea team
            cat catsup
            chip cheap
            fish fisher
            berry bery
            candle candy
            pie pi
            egg eggplant
            orange oracle
            person personal
            """
        case .german:
            """
            Rolle Roller
            Rollen Roller
            Wecken Wecker
            Spiel Spieler
            Toast Toaster
            Koch Kocher
            Kuchen Küche
            Messer Messe
            Butter Butt
            Burger Burg
            Wiener Wien
            Müller Müll
            Berliner Berlin
            Fischer Fisch
            Leiter Leite
            Reis Reise
            Eis Ei
            Mutter Mutte
            Milch milchig
            Apfel Apfelsaft
            Salz Salat
            Salz Salzburg
            Hahn Huhn
            Brot Brötchen
            Bier Biene
            Birne Birke
            Nuss Nudel
            Wein Weizen
            Tomate Tomatensaft
            Kaffee Kaffeesahne
            Rind Rinne
            Rose Rosine
            Kirsche Kirschsaft
            Wasser Wasserkocher
            Zucker zuckerfrei
            Mehl Mehrkorn
            Saft saftig
            Käse Kasten
            Tee Teig
            Wurst Durst
            Dose Dosis
            Seife Seite
            Hose Rose
            Sahne Zahn
            Pute Pudel
            Lachs Lack
            Hefe Heft
            Sekt Sektor
            """
        case .croatian:
            """
            sir sirup
            sir sirov
            vino vinjak
            kava kavijar
            riba ribiz
            sol sok
            sol soja
            mlijeko mliječni
            mlijeko mlinci
            jaje jabuka
            kruh kruška
            ulje ulica
            meso mesar
            luk lubenica
            čaj čajnik
            sok soja
            pivo pire
            voda votka
            med medvjed
            krumpir kruh
            juha jogurt
            salata salama
            šećer šešir
            brašno brašnjav
            maslac maslina
            mast maslac
            grah grašak
            grožđe groznica
            limun limunada
            banana bananko
            keks keksić
            kolač kolotur
            paprika papar
            rajčica raj
            šunka šumka
            tuna tunika
            piletina pile
            puretina pura
            svinjetina svinja
            orah orada
            kakao kaka
            vrhnje vrh
            """
        case .russian:
            """
            сыр сырок
            сыр сырник
            сливы сливки
            соль сок
            печень печенье
            рыба рыбак
            мука мак
            лук лукошко
            молоко молочный
            чай чайник
            вода водка
            кофе кофейный
            рис риск
            хлеб хлебец
            мясо мясной
            масло маслина
            яйцо яичный
            колбаса колба
            творог творожок
            картофель картошка
            капуста капот
            морковь морс
            огурец огонь
            перец перо
            банан банка
            орех орешек
            вино виноград
            пиво пирог
            сок соус
            сахар сухарь
            рыба рыбный
            груша грушевый
            булка булочка
            сметана сметать
            конфета конфитюр
            вишня вишневый
            мед медведь
            крупа крупный
            гречка греча
            зерно зеркало
            йогурт йод
            белый белок
            """
        }
    }
}
