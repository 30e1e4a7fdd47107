"""Units of measure in many spellings, each as a multiple of one unit of its kind."""

from __future__ import annotations

import re

SPELLINGS = """
m 1 m meter meters metre metres mètre mètres metro metros metri м метр метров метра 米 メートル मीटर متر
m 1000 km kilometer kilometers kilometre kilometres kilomètre kilomètres kilómetros chilometri км
    километров 公里 千米 キロメートル キロ किलोमीटर किमी كيلومتر كم
m 0.01 cm centimeter centimeters centimetre centimetres zentimeter centimètres centímetros см 厘米 センチ
    सेमी سم
m 0.001 mm millimeter millimeters millimetre millimetres 毫米 ミリ मिमी مم
m 1609.344 mi mile miles meile meilen milles millas miglia 英里 マイル मील ميل
m 0.3048 ft foot feet fuß 英尺 フィート फुट قدم
m 0.0254 inch inches zoll 英寸 インチ
m 0.9144 yd yard yards
g 1 g gram grams gramm gramme grammes gramos grammi г 克 グラム ग्राम غرام
g 1000 kg kilogram kilograms kilogramm kilo kilos kilogrammes kilogramos кг 公斤 千克 キログラム किलोग्राम
    किलो كيلوغرام كغ
g 0.001 mg milligram milligrams milligramm 毫克 ミリグラム
g 1000000 tonne tonnes tonnen tons ton 吨 トン टन طن
g 453.59237 lb lbs
g 28.349523125 oz ounce ounces
s 1 s sec second seconds sekunde sekunden seconde secondes segundos secondi 秒 秒钟 सेकंड ثانية ثوان
s 60 min mins minute minutes minuten minutos minuti 分钟 分間 मिनट دقيقة دقائق
s 3600 h hr hrs hour hours stunde stunden heure heures horas ore 小时 時間 घंटे घंटा ساعة ساعات
s 86400 day days tag tage tagen jour jours día días giorno giorni день дней дня 天 日間 दिन يوم أيام
    يوما
s 604800 week weeks woche wochen semaine semaines semana semanas settimane 周 星期 週間 सप्ताह हफ्ते
    أسبوع أسابيع
month 1 month months monat monate monaten mois mes meses mesi месяцев 个月 ヶ月 か月 महीने महीनों شهر أشهر
month 12 year years yr yrs jahr jahre jahren ans années año años anno anni лет года 年間 साल वर्ष سنة
    سنوات عاما
% 1 % percent prozent pourcent procent ％ प्रतिशत ٪ パーセント
USD 1 $ usd dollar dollars us-dollar 美元 ドル डॉलर دولار
EUR 1 € eur euro euros 欧元 ユーロ यूरो يورو
GBP 1 £ gbp pound pounds pfund 英镑 ポンド
JPY 1 ¥ jpy yen 円 日元
CNY 1 cny rmb yuan 元 人民币
INR 1 ₹ inr rupee rupees रुपये रुपए
C 1 °c ℃ celsius
F 1 °f ℉ fahrenheit
m2 1 m² m2 平方米 平方メートル
m2 1000000 km² km2 平方公里 平方キロメートル
m2 10000 ha hectare hectares hektar 公顷 ヘクタール हेक्टेयर
l 1 l liter liters litre litres litros litri 升 リットル लीटर لتر
l 0.001 ml milliliter milliliters millilitre millilitres 毫升
m/s 0.277777777777778 km/h kmh kph
m/s 0.44704 mph
W 1 w watt watts
W 1000 kw kilowatt kilowatts
W 1000000 mw megawatt megawatts
W 1000000000 gw gigawatt gigawatts
B 1000 kb kilobyte kilobytes
B 1000000 mb megabyte megabytes
B 1000000000 gb gigabyte gigabytes
B 1000000000000 tb terabyte terabytes
Hz 1 hz hertz
Hz 1000000 mhz megahertz
Hz 1000000000 ghz gigahertz
"""
"""For each unit its kind, its size in the kind's first unit, and how it is written."""

LINES = [line.split() for line in re.split(r"\n(?! )", SPELLINGS.strip())]
UNITS: dict[str, tuple[str, float]] = {
    spelling: (kind, float(size)) for kind, size, *spellings in LINES for spelling in spellings
}
"""Kind and size by spelling, case folded."""

SCALES: dict[str, float] = {
    spelling: factor
    for factor, line in (
        (1e2, "hundred hundert"),
        (1e3, "thousand thousands tausend mille mil mila тысяч тыс 千 हज़ार हजार ألف آلاف k"),
        (1e4, "万 萬 만"),
        (1e5, "lakh lakhs लाख"),
        (
            1e6,
            "million millions mio millionen millón millones milioni milhões млн миллионов मिलियन مليون ملايين m",
        ),
        (1e7, "crore crores करोड़ करोड़"),
        (1e8, "亿 億 억"),
        (
            1e9,
            "billion billions bn milliarde milliarden mrd milliards milliard miliardi млрд миллиардов مليار अरब",
        ),
        (1e12, "trillion trillions billionen 兆"),
    )
    for spelling in line.split()
}
"""Words that multiply the number before them."""

COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn - zwölf",
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez - doce",
)
"""Numbers in words, each in its place; elf and once mean something else in English."""
SMALL = {
    word: value for line in COUNTED for value, word in enumerate(line.split()) if value != 1 and word != "-"
}
BY_TEN = "twenty thirty forty fifty sixty seventy eighty ninety"
TENS = {word: 10 * place for place, word in enumerate(BY_TEN.split(), start=2)}
IN_ORDER = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS = {word: place for place, word in enumerate(IN_ORDER.split(), start=1)}


def unit_pattern() -> str:
    """An alternation of all spellings, longest first; letters end at the end of a word."""
    known = sorted(UNITS, key=len, reverse=True)
    lettered = [re.escape(s) for s in known if s[-1].isalpha() and ord(s[0]) < 0x3000]
    others = [re.escape(s) for s in known if re.escape(s) not in lettered]
    return rf"(?:(?:{'|'.join(lettered)})(?![^\W_])|{'|'.join(others)})"
