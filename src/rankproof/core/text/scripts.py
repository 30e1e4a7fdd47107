r"""Which characters belong to which writing, as parts of character classes for regular expressions.

>>> import re
>>> re.findall(f"[{HAN}]+|[{KANA}]+", "東京タワー")
['東京', 'タワー']
"""

from __future__ import annotations

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f\u3005\u3006"
KANA = "\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\uac00-\ud7a3\u1100-\u11ff"
CJK = HAN + KANA
"""Writing without spaces between words: Chinese and Japanese."""
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
LAO = "\u0e81-\u0ebd\u0ec0-\u0ecd"
KHMER = "\u1780-\u17d3"
BURMESE = "\u1000-\u1049\u1050-\u109f"
UNSPACED = CJK + THAI + LAO + KHMER + BURMESE
DEVANAGARI = "\u0900-\u0963\u0971-\u097f"
ARABIC = "\u0610-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u06ff\u0750-\u077f"
GREEK = "\u0370-\u037d\u037f-\u0386\u0388-\u03ff\u1f00-\u1fff"
