//! The words of the shop: names put together from syllables, things in twelve languages. All made up for this file.

use super::dice::Dice;

/// code, name, own name, currency, VAT.
pub const COUNTRIES: [(&str, &str, &str, &str, Option<f64>); 18] = [
    ("AV", "Avelund", "Avelünd", "AVC", Some(19.0)),
    ("BQ", "Brennaq", "برنّاق", "BRD", Some(5.0)),
    ("CZ", "Corvadia", "Čorvádie", "COK", Some(21.0)),
    ("DH", "Dharimal", "धारिमाल", "DHR", Some(18.0)),
    ("EL", "Elystra", "Ελύστρα", "ELD", Some(24.0)),
    ("FJ", "Fjerholm", "Fjerhølm", "FJK", Some(25.0)),
    ("GW", "Gwennor", "Gwennôr", "GWP", Some(20.0)),
    ("HK", "Hakumori", "白森", "HKY", Some(10.0)),
    ("IS", "Isbrava", "Исбрава", "ISR", Some(20.0)),
    ("JT", "Jantzeel", "Jântzèèl", "JTG", None),
    ("KS", "Kesharon", "קשרון", "KSS", Some(17.0)),
    ("LM", "Lumiara", "Lumiãra", "LME", Some(23.0)),
    ("MY", "Minyue", "明月", "MYY", Some(13.0)),
    ("NT", "Natua", "Naꞌtua", "NTT", None),
    ("OS", "Ostrowia", "Ostrówia", "OSZ", Some(23.0)),
    ("PR", "Perisol", "Perisól", "PRS", Some(21.0)),
    ("TN", "Thienan", "Thiên Ấn", "TND", Some(8.0)),
    ("ZY", "Zynnia", "Zynnıa", "ZYL", Some(18.0)),
];

/// Places, in no country's list.
pub const CITIES: [&str; 20] = [
    "Mossgate",
    "Vällby",
    "Karrowick",
    "Sint-Oude",
    "Łączno",
    "Étoilette",
    "Brühlau",
    "Čestín",
    "Νεάλιμνα",
    "Светлоград",
    "Тихоречье",
    "واحة النور",
    "גבעת תמר",
    "みどり浜",
    "青柳町",
    "云溪",
    "सोनपुरा",
    "Thủy Sơn",
    "São Brito",
    "Ağaçlı",
];

/// Ways.
pub const STREETS: [&str; 14] = [
    "Lantern Row",
    "Quince Lane",
    "Old Ferry Steps",
    "Am Krähenbach",
    "Rue de l’Étang",
    "ul. Źródlana",
    "Οδός Αμυγδαλιάς",
    "Яблоневая улица",
    "شارع الياسمين",
    "רחוב הזית",
    "さくら通り",
    "竹影路",
    "नीम मार्ग",
    "Ngõ Sen",
];

/// Syllables that may stand at one place of a name.
type Parts = &'static [&'static str];

/// First halves and second halves of names, script by script. The first row is Latin, the most common one.
const NAMES: [(Parts, Parts, Parts, Parts); 8] = [
    (
        &["Ma", "Lu", "Te", "Ko", "Ar", "Si", "El", "Na", "Vé", "Zö", "Łu", "Ña", "Ø", "Bri", "Cle", "Du"],
        &["ra", "lin", "mo", "das", "né", "via", "rek", "sa", "thé", "ño", "nja", "ïs"],
        &["Bar", "Holm", "Krö", "Vel", "Dun", "Šir", "Pel", "Gran", "Ost", "Çel", "Mc", "O’"],
        &["nik", "berg", "son", "wick", "řák", "tini", "mann", "Dara", "ović", "ström", "ães", "ley"],
    ),
    (
        &["Αλ", "Μυρ", "Θε", "Νικ", "Ζω"],
        &["κη", "τώ", "ίας", "έλα", "ων"],
        &["Παπ", "Καλ", "Δημ", "Στρ"],
        &["άδης", "ίδου", "όπουλος", "αρά"],
    ),
    (&["Ла", "Ми", "Ве", "Яро", "Зо"], &["рина", "слав", "тей", "ша", "ян"], &["Бел", "Гро", "Тих", "Сне"], &["ов", "мова", "енко", "жин"]),
    (&["سلي", "نو", "رام", "ليا", "جو"], &["م", "را", "ي", "ن", "دة"], &["الحد", "الزي", "الصاف"], &["اد", "تون", "ي"]),
    (&["נו", "תמ", "אלי", "שי"], &["עה", "ר", "אב", "רה"], &["בר", "לב", "כר"], &["־גל", "נון", "מי"]),
    (&["はる", "みな", "あお", "ゆき"], &["と", "み", "か", "の"], &["白", "森", "青"], &["川", "本", "谷"]),
    (&["晓", "雨", "子", "安"], &["晴", "涵", "墨", ""], &["林", "沈", "云"], &["", "", ""]),
    (&["अन", "मी", "रो", "सु"], &["न्या", "रा", "हन", "मित"], &["शर", "वर", "दे"], &["मन", "धन", "वल"]),
];

/// A person's name: mostly Latin letters, one in four in another script.
pub fn person(dice: &mut Dice) -> String {
    let script = if dice.percent(75) { 0 } else { dice.between(1, 7) };
    let Some((first, first_end, last, last_end)) = usize::try_from(script).ok().and_then(|at| NAMES.get(at)) else {
        return String::new();
    };
    let (given, given_end) = (dice.pick(first), dice.pick(first_end));
    let (family, family_end) = (dice.pick(last), dice.pick(last_end));
    match script {
        // Family name first, nothing between.
        5 | 6 => format!("{family}{family_end}{given}{given_end}"),
        _ => format!("{given}{given_end} {family}{family_end}"),
    }
}

/// Names of product series and suppliers.
pub const SERIES: [&str; 14] = [
    "Tavora", "Bjelka", "Moorwen", "Ostara", "Quillon", "Fennick", "Solveire", "Halden", "Isolka", "Marrow", "Perrin", "Vantle", "Øya",
    "Zephyra",
];

/// A word for a company.
pub fn company(dice: &mut Dice) -> String {
    let front = dice.pick(&["Bel", "Cor", "Dra", "Fal", "Gri", "Hol", "Kel", "Lor", "Mir", "Nor", "Pal", "Ros", "Tam", "Ul", "Wyn"]);
    let end = dice.pick(&["vado", "dale", "mira", "stein", "tova", "nelle", "brook", "quist"]);
    let form = dice.pick(&["& Daughters", "Works", "GmbH", "S.A.", "Sp. z o.o.", "Oy", "Collective", "株式会社"]);
    format!("{front}{end} {form}")
}

/// What something is made of.
#[derive(Clone, Copy)]
pub enum Of {
    /// Glass.
    Glass,
    /// Clay.
    Clay,
    /// Wood.
    Wood,
    /// Linen.
    Linen,
    /// Wool.
    Wool,
    /// Brass.
    Brass,
    /// Paper.
    Paper,
    /// Leather.
    Leather,
}

/// Kinds of things, in the order of every language's nouns, with what they may be made of and their category.
pub const THINGS: [(&str, &str, &[Of]); 12] = [
    ("Lamp", "Lighting", &[Of::Glass, Of::Brass, Of::Paper]),
    ("Cup", "Tableware", &[Of::Glass, Of::Clay, Of::Wood]),
    ("Blanket", "Textiles", &[Of::Wool, Of::Linen]),
    ("Notebook", "Stationery", &[Of::Paper, Of::Leather, Of::Linen]),
    ("Chair", "Furniture", &[Of::Wood, Of::Leather, Of::Brass]),
    ("Teapot", "Tableware", &[Of::Clay, Of::Glass, Of::Brass]),
    ("Basket", "Storage", &[Of::Wood, Of::Paper, Of::Leather]),
    ("Candlestick", "Lighting", &[Of::Brass, Of::Wood, Of::Clay]),
    ("Clock", "Furniture", &[Of::Wood, Of::Brass, Of::Glass]),
    ("Bag", "Storage", &[Of::Leather, Of::Linen, Of::Wool]),
    ("Rug", "Textiles", &[Of::Wool, Of::Linen]),
    ("Bowl", "Tableware", &[Of::Clay, Of::Wood, Of::Glass]),
];

/// Categories that have no parent, and their children.
pub const CATEGORIES: [(&str, &[&str]); 3] =
    [("Home", &["Lighting", "Furniture", "Textiles"]), ("Kitchen", &["Tableware"]), ("Desk & Door", &["Stationery", "Storage"])];

/// A language of the catalogue: things and materials in the order of [`THINGS`] and [`Of`].
pub struct Language {
    /// Its code.
    pub code: &'static str,
    /// Its English name.
    pub name: &'static str,
    /// Its own name.
    pub own_name: &'static str,
    /// What it is written in.
    pub script: &'static str,
    /// How a thing of a material is said: `N` is the thing, `M` the material.
    pattern: &'static str,
    nouns: [&'static str; 12],
    materials: [&'static str; 8],
    /// Two sentences.
    pub description: &'static str,
}

impl Language {
    /// The name of a thing made of something.
    pub fn say(&self, thing: usize, of: Of) -> String {
        let noun = self.nouns.get(thing).copied().unwrap_or_default();
        let material = self.materials.get(of as usize).copied().unwrap_or_default();
        let mut name = String::new();
        for letter in self.pattern.chars() {
            match letter {
                'N' => name.push_str(noun),
                'M' => name.push_str(material),
                other => name.push(other),
            }
        }
        name
    }
}

/// The languages of the catalogue.
pub const LANGUAGES: [Language; 12] = [
    Language {
        code: "en",
        name: "English",
        own_name: "English",
        script: "Latin",
        pattern: "M N",
        nouns: ["lamp", "cup", "blanket", "notebook", "chair", "teapot", "basket", "candlestick", "clock", "bag", "rug", "bowl"],
        materials: ["Glass", "Clay", "Wooden", "Linen", "Woollen", "Brass", "Paper", "Leather"],
        description: "Made by hand. Each piece is a little different. 🕯️",
    },
    Language {
        code: "de",
        name: "German",
        own_name: "Deutsch",
        script: "Latin",
        pattern: "N aus M",
        nouns: [
            "Lampe",
            "Tasse",
            "Decke",
            "Notizbuch",
            "Stuhl",
            "Teekanne",
            "Korb",
            "Kerzenständer",
            "Uhr",
            "Tasche",
            "Teppich",
            "Schüssel",
        ],
        materials: ["Glas", "Ton", "Holz", "Leinen", "Wolle", "Messing", "Papier", "Leder"],
        description: "Von Hand gemacht. Jedes Stück ist ein wenig anders.",
    },
    Language {
        code: "fr",
        name: "French",
        own_name: "français",
        script: "Latin",
        pattern: "N en M",
        nouns: ["Lampe", "Tasse", "Couverture", "Carnet", "Chaise", "Théière", "Panier", "Bougeoir", "Horloge", "Sac", "Tapis", "Bol"],
        materials: ["verre", "argile", "bois", "lin", "laine", "laiton", "papier", "cuir"],
        description: "Fait à la main\u{a0}: chaque pièce est un peu différente. Très «\u{202f}chaleureux\u{202f}».",
    },
    Language {
        code: "pl",
        name: "Polish",
        own_name: "polski",
        script: "Latin",
        pattern: "N M",
        nouns: ["Lampa", "Filiżanka", "Koc", "Notes", "Krzesło", "Czajniczek", "Kosz", "Świecznik", "Zegar", "Torba", "Dywan", "Miska"],
        materials: ["ze szkła", "z gliny", "z drewna", "z lnu", "z wełny", "z mosiądzu", "z papieru", "ze skóry"],
        description: "Wykonane ręcznie. Każda sztuka jest trochę inna.",
    },
    Language {
        code: "vi",
        name: "Vietnamese",
        own_name: "Tiếng Việt",
        script: "Latin",
        pattern: "N bằng M",
        nouns: ["Đèn", "Tách", "Chăn", "Sổ tay", "Ghế", "Ấm trà", "Giỏ", "Chân nến", "Đồng hồ", "Túi", "Thảm", "Bát"],
        materials: ["thủy tinh", "đất sét", "gỗ", "vải lanh", "len", "đồng thau", "giấy", "da"],
        // Decomposed: letters and their marks are separate code points.
        description: "La\u{300}m thu\u{309} co\u{302}ng. Mo\u{302}\u{303}i chie\u{302}\u{301}c ho\u{31b}i kha\u{301}c nhau.",
    },
    Language {
        code: "el",
        name: "Greek",
        own_name: "Ελληνικά",
        script: "Greek",
        pattern: "N από M",
        nouns: [
            "Λάμπα",
            "Φλιτζάνι",
            "Κουβέρτα",
            "Σημειωματάριο",
            "Καρέκλα",
            "Τσαγιέρα",
            "Καλάθι",
            "Κηροπήγιο",
            "Ρολόι",
            "Τσάντα",
            "Χαλί",
            "Μπολ",
        ],
        materials: ["γυαλί", "πηλό", "ξύλο", "λινό", "μαλλί", "μπρούντζο", "χαρτί", "δέρμα"],
        description: "Φτιαγμένο στο χέρι. Κάθε κομμάτι είναι λίγο διαφορετικό.",
    },
    Language {
        code: "ru",
        name: "Russian",
        own_name: "русский",
        script: "Cyrillic",
        pattern: "N из M",
        nouns: ["Лампа", "Чашка", "Одеяло", "Блокнот", "Стул", "Чайник", "Корзина", "Подсвечник", "Часы", "Сумка", "Ковёр", "Миска"],
        materials: ["стекла", "глины", "дерева", "льна", "шерсти", "латуни", "бумаги", "кожи"],
        description: "Сделано вручную. Каждый предмет немного отличается.",
    },
    Language {
        code: "ar",
        name: "Arabic",
        own_name: "العربية",
        script: "Arabic",
        pattern: "N من M",
        nouns: ["مصباح", "فنجان", "بطانية", "دفتر", "كرسي", "إبريق شاي", "سلة", "شمعدان", "ساعة", "حقيبة", "سجادة", "وعاء"],
        materials: ["الزجاج", "الطين", "الخشب", "الكتان", "الصوف", "النحاس", "الورق", "الجلد"],
        description: "صنع يدوي. كل قطعة مختلفة قليلاً عن ١٠ قطع أخرى.",
    },
    Language {
        code: "he",
        name: "Hebrew",
        own_name: "עברית",
        script: "Hebrew",
        pattern: "N מM",
        nouns: ["מנורה", "ספל", "שמיכה", "מחברת", "כיסא", "קומקום", "סל", "פמוט", "שעון", "תיק", "שטיח", "קערה"],
        materials: ["זכוכית", "חימר", "עץ", "פשתן", "צמר", "פליז", "נייר", "עור"],
        description: "עבודת יד. כל פריט קצת שונה (Fennimoor 100%).",
    },
    Language {
        code: "ja",
        name: "Japanese",
        own_name: "日本語",
        script: "Han and Kana",
        pattern: "MのN",
        nouns: ["ランプ", "カップ", "毛布", "ノート", "椅子", "急須", "かご", "燭台", "時計", "かばん", "絨毯", "鉢"],
        materials: ["ガラス", "陶器", "木", "麻", "羊毛", "真鍮", "紙", "革"],
        description: "手作りです。一つひとつ少しずつ違います。",
    },
    Language {
        code: "zh",
        name: "Chinese",
        own_name: "中文",
        script: "Han",
        pattern: "MN",
        nouns: ["灯", "杯子", "毯子", "笔记本", "椅子", "茶壶", "篮子", "烛台", "钟", "包", "地毯", "碗"],
        materials: ["玻璃", "陶土", "木制", "亚麻", "羊毛", "黄铜", "纸质", "皮革"],
        description: "手工制作，每一件都略有不同。",
    },
    Language {
        code: "hi",
        name: "Hindi",
        own_name: "हिन्दी",
        script: "Devanagari",
        pattern: "N (M)",
        nouns: ["दीपक", "प्याला", "कंबल", "कॉपी", "कुर्सी", "चायदानी", "टोकरी", "मोमबत्तीदान", "घड़ी", "थैला", "कालीन", "कटोरा"],
        materials: ["काँच", "मिट्टी", "लकड़ी", "सन", "ऊन", "पीतल", "काग़ज़", "चमड़ा"],
        description: "हाथ से बना। हर टुकड़ा थोड़ा अलग है।",
    },
];

/// What people write under a thing, by rating from 1 to 5.
pub const OPINIONS: [&[&str]; 5] = [
    &["Arrived in two pieces. One would have been enough. 💔", "Enttäuschend.", "Сломалось в первый день.", "لا أنصح به.", "不推荐。"],
    &["Not what the picture promised.", "Bof…", "Trochę krzywe.", "思ったより小さい。", "Smells of fish. It is not meant to."],
    &["Fine.", "Es geht.", "Κανονικό.", "ठीक है।", "It does what it does:\n- stand\n- look nice\n- gather dust"],
    &["Lovely, a little heavy. 👍🏽", "Très joli !", "Bardzo ładne, polecam.", "יפה מאוד.", "Đẹp!"],
    &[
        "Best thing on my desk 😍",
        "Wunderschön, gerne wieder 🌿",
        "Очень красиво!",
        "رائع جداً ✨",
        "とても気に入りました🏮",
        "很漂亮，朋友们都喜欢🎁",
        "The whole family 👨‍👩‍👧‍👦 agrees: 10/10 🏳️‍🌈",
        "Cafe\u{301} owners will like it: it is na\u{308}ive a\u{300} la carte.",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thing_has_a_name_in_every_language() {
        for language in &LANGUAGES {
            for (thing, (_, _, materials)) in THINGS.iter().enumerate() {
                for of in *materials {
                    let name = language.say(thing, *of);
                    assert!(name.chars().count() >= 2, "{}: {name}", language.code);
                }
            }
        }
        assert_eq!(LANGUAGES[6].say(0, Of::Glass), "Лампа из стекла");
        assert_eq!(LANGUAGES[3].say(11, Of::Clay), "Miska z gliny");
        assert_eq!(LANGUAGES[9].say(5, Of::Clay), "陶器の急須");
    }
}
