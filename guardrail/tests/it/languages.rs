//! Ordinary tickets in twelve languages, with emoji, joiners, marks and flags, hide nothing (promise I-6).

use crate::{floor, ids};

const LANGUAGES: &[(&str, &[&str])] = &[
    (
        "German",
        &[
            "Der Drucker im zweiten Stock druckt graue Streifen, der Toner ist neu.",
            "Könnten Sie bitte Frau Müller Zugriff auf das Postfach „Bestellungen“ geben?",
            "Seit heute Früh geht das WLAN im Besprechungsraum nicht mehr, die Straße ist auch gesperrt.",
            "Ich bräuchte eine Auf\u{200c}lage für den Dock\u{ad}ing\u{ad}anschluss und 2 Netz\u{ad}kabel à 5 m.",
            "Mein Kollege hat ein neues Gerät bekommen – wann kommt meins?",
        ],
    ),
    (
        "French",
        &[
            "L’imprimante du deuxième étage n’imprime plus depuis hier après-midi.",
            "Pourriez-vous ajouter Mme Lefèvre à la liste « Commandes » s’il vous plaît\u{a0}?",
            "Mon écran clignote quand je branche le câble HDMI… c’est gênant\u{202f}!",
            "Où trouve-t-on le modèle de lettre avec le nouveau logo, cœur de l’identité\u{a0}?",
            "J’ai reçu mon badge, merci beaucoup pour l’aide rapide.",
        ],
    ),
    (
        "Spanish",
        &[
            "La impresora del segundo piso deja líneas grises en cada página.",
            "¿Podrían darle acceso a Íñigo al buzón de pedidos, por favor?",
            "Desde mañana trabajo en Málaga; ¡necesito la VPN en el portátil nuevo!",
            "El escáner no guarda en la carpeta común, sale «permiso denegado».",
            "Gracias, ya funciona el proyector de la sala pequeña. Hay carne en la nevera.",
        ],
    ),
    (
        "Polish",
        &[
            "Drukarka na drugim piętrze zostawia szare linie na każdej stronie.",
            "Proszę dodać panią Żółkowską do grupy „Zamówienia”.",
            "Od wczoraj nie działa łączność w sali konferencyjnej, źródło usterki nieznane.",
            "Potrzebuję dłuższego kabla sieciowego, około pięciu metrów.",
            "Dziękuję za szybką pomoc, wszystko już działa.",
        ],
    ),
    (
        "Russian",
        &[
            "Принтер на втором этаже оставляет серые полосы на каждой странице.",
            "Добавьте, пожалуйста, Ольгу в группу «Заказы», начальник согласен.",
            "После обновления Windows 11 ноутбук очень долго загружается, IT-отдел сказал писать сюда.",
            "Нужен USB-кабель и новый монитор, у старого не работает HDMI.",
            "Спасибо, всё работает, можно закрыть заявку. SMSку получил.",
        ],
    ),
    (
        "Ukrainian",
        &[
            "Принтер на другому поверсі друкує сірі смуги, тонер новий.",
            "Прошу надати Ірині доступ до скриньки «Замовлення».",
            "Після оновлення не відкривається 1С, пише помилку 1042.",
            "Потрібен подовжувач у кімнату три та ще один стілець.",
            "Дякую, м’ятний чай також сподобався.",
        ],
    ),
    (
        "Greek",
        &[
            "Ο εκτυπωτής στον δεύτερο όροφο αφήνει γκρίζες γραμμές σε κάθε σελίδα.",
            "Παρακαλώ δώστε στη Μαρία πρόσβαση στο γραμματοκιβώτιο των παραγγελιών.",
            "Το ασύρματο δίκτυο στην αίθουσα είναι αργό μετά το μεσημέρι.",
            "Χρειάζομαι ένα καλώδιο πέντε μέτρων και ένα ποντίκι, 20 μm σκόνη στο παλιό.",
            "Ευχαριστώ, όλα δουλεύουν τώρα.",
        ],
    ),
    (
        "Arabic",
        &[
            "الطابعة في الطابق الثاني تترك خطوطًا رمادية على كل صفحة.",
            "\u{202b}أرجو إعطاء سَلْمى صلاحية الدخول إلى صندوق الطلبات.\u{202c}",
            "شبكة الـWiFi بطيئة في قاعة الاجتماعات منذ أمس.",
            "أحتاج إلى كابل HDMI\u{200f} بطول ٥ أمتار.",
            "شكرًا جزيلًا، كل شيء يعمل الآن.",
        ],
    ),
    (
        "Hebrew",
        &[
            "המדפסת בקומה השנייה משאירה פסים אפורים בכל עמוד.",
            "\u{200f}נא לתת לנועה גישה לתיבת ההזמנות ב-Outlook.",
            "הרשת האלחוטית בחדר הישיבות אִטִּית מאז אתמול.",
            "\u{2067}אני צריך כבל USB-C באורך 2 מטר\u{2069} ועכבר חדש.",
            "תודה רבה, הכול עובד עכשיו.",
        ],
    ),
    (
        "Persian",
        &[
            "چاپگر طبقهٔ دوم روی هر صفحه خط‌های خاکستری می‌اندازد.",
            "لطفاً به خانم رضایی دسترسی صندوق سفارش‌ها را بدهید.",
            "شبکهٔ بی‌سیم اتاق جلسه از دیروز کند شده است.",
            "به یک کابل پنج‌متری و یک موشواره نیاز دارم.",
            "سپاسگزارم، همه‌چیز درست شد.",
        ],
    ),
    (
        "Japanese",
        &[
            "二階のプリンターで印刷すると、毎ページに灰色の線が入ります。",
            "山田さんに注文用メールボックスへのアクセス権をお願いします。",
            "昨日から会議室のWi-Fiが遅いです。PCがWindowsで再起動しました。",
            "５メートルのＬＡＮケーブルとマウスが必要です。",
            "ありがとうございました。問題なく動いています。",
        ],
    ),
    (
        "Hindi",
        &[
            "दूसरी मंज़िल का प्रिंटर हर पन्ने पर धूसर रेखाएँ छोड़ता है।",
            "कृपया सुनीता जी को ऑर्डर मेलबॉक्स का अधिकार दें।",
            "कल से बैठक कक्ष का Wi-Fi धीमा है, क्\u{200d}या देख सकते हैं?",
            "मुझे पाँच मीटर की नेटवर्क केबल और PDF रीडर चाहिए।",
            "धन्यवाद, अब सब ठीक चल रहा है।",
        ],
    ),
];

const DECORATIONS: &[&str] = &[
    "",
    " 🙏😀 1️⃣ 2️⃣ ✅",
    " 👩\u{200d}💻👨\u{200d}👩\u{200d}👧\u{200d}👦 ❤\u{fe0f}\u{200d}🔥",
    " 🇩🇪🇫🇷🇵🇱 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} 🏳\u{fe0f}\u{200d}🌈",
    "\u{a0}\u{feff}№ 5 ½ 10\u{a0}€ 20\u{202f}°C ™ © 👍🏽",
];

#[test]
fn ordinary_tickets_in_twelve_languages_hide_nothing() {
    let mut tickets = 0;
    for (language, sentences) in LANGUAGES {
        for (at, first) in sentences.iter().enumerate() {
            for (step, decoration) in DECORATIONS.iter().enumerate() {
                let second = sentences[(at + step + 1) % sentences.len()];
                let ticket = format!("{first}{decoration} {second}");
                assert_eq!(
                    floor(&ticket).map(|refusal| ids(&refusal)),
                    None,
                    "{language}: {ticket}"
                );
                tickets += 1;
            }
        }
    }
    assert_eq!(tickets, 300);
}
