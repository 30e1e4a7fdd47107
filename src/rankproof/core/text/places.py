"""Names that no large letter shows, and names that stand for the same."""

from __future__ import annotations

import re

from rankproof.core.text.words import folded

NAMES = """
中国 美国 日本 英国 法国 德国 俄罗斯 印度 巴西 意大利 西班牙 加拿大 澳大利亚 韩国 埃及 墨西哥 北京 上海
广州 深圳 香港 台湾 台北 东京 巴黎 伦敦 纽约 柏林 莫斯科 巴西利亚 华盛顿 罗马 开罗 新德里 首尔 北京大学
清华大学 長江 长江 黄河 東京 京都 大阪 名古屋 札幌 福岡 横浜 神戸 北海道 沖縄 富士山 米国 中国 韓国 英国
مصر السعودية العراق سوريا الأردن لبنان المغرب الجزائر تونس ليبيا السودان اليمن فلسطين الكويت قطر
الإمارات البحرين عمان تركيا إيران الهند الصين اليابان روسيا فرنسا ألمانيا إيطاليا إسبانيا بريطانيا
أمريكا البرازيل القاهرة الرياض بغداد دمشق بيروت الرباط باريس لندن برلين موسكو واشنطن روما طوكيو بكين
برازيليا النيل भारत पाकिस्तान चीन जापान अमेरिका रूस फ्रांस जर्मनी इटली ब्रिटेन ब्राज़ील ब्राजील नेपाल
बांग्लादेश श्रीलंका दिल्ली मुंबई कोलकाता चेन्नई बेंगलुरु हैदराबाद आगरा जयपुर लखनऊ पटना वाराणसी गंगा
यमुना हिमालय लंदन पेरिस टोक्यो बीजिंग ताजमहल गांधी नेहरू
"""
PLACES = re.compile("|".join(sorted(set(NAMES.split()), key=len, reverse=True)))
"""Countries, cities and the like in Chinese, Japanese, Arabic and Hindi."""

SAME = """
United States|United States of America|US|USA|U.S.|America
United Kingdom|UK|U.K.|Great Britain|Britain
European Union|EU
United Nations|UN
Soviet Union|USSR
New York City|NYC|New York
Los Angeles|LA
United Arab Emirates|UAE
World War I|First World War|WWI|World War One
World War II|Second World War|WWII|World War Two
Holland|Netherlands|The Netherlands
Czech Republic|Czechia
Burma|Myanmar
Munich|München
Cologne|Köln
Vienna|Wien
Germany|Deutschland
"""


def _forms(line: str) -> list[str]:
    return [" ".join(folded(part) for part in name.replace(".", "").split()) for name in line.split("|")]


ALIASES = {
    form: frozenset(forms) - {form} for forms in map(_forms, SAME.strip().splitlines()) for form in forms
}
"""The other forms of a name by each of its forms."""
