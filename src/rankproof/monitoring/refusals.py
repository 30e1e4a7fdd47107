"""Answers that say "I don't know", told by their words in ten languages.

Only the first two sentences count: an answer that says what it knows and then what it does not is no refusal. On the
labelled list in `tests/monitoring/refusals.tsv` precision and recall are stated and checked.
"""

from __future__ import annotations

import re

WORDS: dict[str, tuple[str, ...]] = {
    "en": (
        r"\bi (?:do not|don't|don’t) (?:know|have (?:(?:any|enough|sufficient|the) )?(?:\w+ )?(?:information|data|details|context|access|answer))",
        r"\bi(?:'m| am|’m) (?:sorry,? (?:but )?)?(?:i )?(?:not able|unable|not sure|afraid i (?:can|do)n[o']t)",
        r"\bi (?:cannot|can't|can’t|could not|couldn't|couldn’t|was unable to|am unable to) (?:find|answer|help|provide|determine|locate|assist|tell)",
        r"\b(?:there is|there's|i have|we have) (?:no|not enough|insufficient) (?:\w+ )?(?:information|data|answer|context|evidence|mention|documentation)",
        r"\b(?:the )?(?:provided |given |available |retrieved )?(?:context|documents?|sources?|passages?|text|information)(?: provided| available)? (?:do(?:es)? not|don't|doesn't) (?:contain|mention|include|provide|say|specify|cover|state|address)",
        r"\bno (?:relevant )?(?:information|results?|answer|documents?) (?:was|were|is|could be|has been|have been) (?:found|available)",
        r"\b(?:unable|not able) to (?:find|answer|provide|determine|locate)",
        r"\b(?:is|are) not (?:mentioned|specified|stated|covered|provided|available) in the",
        r"\bwe (?:do not|don't|don’t) (?:know|have (?:any )?information)",
    ),
    "de": (
        r"\b(?:das )?wei(?:ß|ss) ich (?:leider )?nicht",
        r"\bich wei(?:ß|ss) (?:es |das )?(?:leider )?nicht",
        r"\b(?:habe ich|ich habe|wir haben|liegen mir|liegen uns|gibt es|finde ich|ich finde|enth(?:ä|ae)lt|enthalten) (?:hierzu |dazu |dar(?:ü|ue)ber |leider )*(?:keine?n?|nicht gen(?:ü|ue)gend) (?:\w+ )?(?:information|angabe|antwort|daten|hinweis|auskunft)",
        r"\b(?:kann|konnte|können|koennen) (?:ich |wir )?(?:\w+ ){0,5}(?:leider )?(?:nicht|keine?n?) (?:\w+ )?(?:finden|beantworten|gefunden|helfen|antwort)",
        r"\bkeine (?:\w+ )?(?:informationen?|angaben|antwort|ergebnisse) (?:\w+ )?(?:gefunden|vorhanden|verf(?:ü|ue)gbar|enthalten)",
    ),
    "fr": (
        r"\bje (?:ne |n['’])(?:sais pas|connais pas la réponse|peux pas (?:répondre|vous aider|trouver)|trouve (?:pas|aucune)|dispose (?:pas|d['’]aucune)|ai (?:pas|trouvé aucune|aucune|pas trouvé))",
        r"\bje suis (?:désolée?,? (?:mais )?)?(?:dans l['’]incapacité|incapable) de (?:répondre|trouver)",
        r"\b(?:aucune information|il n['’]y a (?:pas|aucune) (?:d['’])?information|pas d['’]information)",
        r"\b(?:le contexte|les documents?|le document) (?:\w+ )?ne (?:contien(?:t|nent)|mentionn(?:e|ent)) (?:pas|aucune)",
    ),
    "es": (
        r"\bno (?:lo )?(?:sé|se la respuesta|dispongo de|tengo (?:suficiente )?(?:información|datos|acceso|la respuesta))",
        r"\bno (?:puedo|pude|he podido) (?:encontrar|responder|ayudar|contestar|determinar)",
        r"\bno (?:encontr(?:é|e)|he encontrado|hay|existe|se encontró) (?:ninguna |suficiente )?(?:información|respuesta|datos|resultados)",
        r"\b(?:el contexto|los documentos|el documento) (?:\w+ )?no (?:contienen?|mencionan?|incluyen?)",
    ),
    "it": (
        r"\bnon (?:lo )?(?:so\b|conosco la risposta|dispongo di|ho (?:abbastanza |sufficienti )?(?:informazioni|dati|trovato))",
        r"\bnon (?:posso|riesco a|sono in grado di|ho potuto) (?:trovare|rispondere|aiutar|fornire)",
        r"\bnon (?:ci sono|c['’]è|sono disponibili) (?:\w+ )?(?:informazioni|risposta|dati)",
        r"\b(?:il contesto|i documenti|il documento) (?:\w+ )?non (?:contien|contengono|menziona)",
    ),
    "pt": (
        r"\b(?:eu )?não (?:sei\b|conheço a resposta|disponho de|tenho (?:informaç|dados|acesso|a resposta|certeza))",
        r"\bnão (?:posso|consigo|consegui|foi possível|pude) (?:encontrar|responder|ajudar|localizar)",
        r"\bnão (?:encontrei|há|existe|foram encontrad[ao]s) (?:nenhuma |suficientes? )?(?:informaç|resposta|dados|resultados)",
        r"\b(?:o contexto|os documentos|o documento) (?:\w+ )?não (?:contém|contêm|menciona)",
    ),
    "nl": (
        r"\b(?:dat )?weet ik (?:helaas )?niet",
        r"\bik weet (?:het |dat )?(?:helaas )?niet",
        r"\b(?:ik heb|ik vind|er is|er zijn|beschik ik over|heb ik) (?:hierover |daarover |helaas )*(?:geen|onvoldoende) (?:\w+ )?(?:informatie|gegevens|antwoord)",
        r"\bik kan (?:\w+ ){0,5}(?:niet|geen) (?:\w+ )?(?:vinden|beantwoorden|helpen|antwoord)",
    ),
    "pl": (
        r"\bnie (?:wiem|znam odpowiedzi|mam (?:wystarczających )?(?:informacji|danych|odpowiedzi)|posiadam (?:\w+ )?informacji)",
        r"\bnie (?:mogę|potrafię|jestem w stanie|udało mi się) (?:\w+ )?(?:znaleźć|odpowiedzieć|pomóc|udzielić)",
        r"\b(?:brak|nie znalaz(?:łem|łam)|nie znaleziono) (?:\w+ )?(?:informacji|odpowiedzi|wyników)",
    ),
    "ru": (
        r"(?:^|\s)я не (?:знаю|могу (?:найти|ответить|помочь)|нашел|нашёл|нашла|располагаю)",
        r"(?:^|\s)(?:к сожалению,? )?(?:у меня )?нет (?:\w+ )?(?:информации|данных|сведений|ответа)",
        r"(?:не удалось найти|информация не найдена|ничего не найдено)",
        r"(?:контекст|документы?)\w* не содерж",
    ),
    "zh": (
        r"(?:我|抱歉，?我)?(?:不知道|不清楚|無法回答|无法回答|没有找到|沒有找到|找不到|无法找到|無法找到|不确定答案)",
        r"(?:没有|沒有|缺乏|未找到)(?:足够的?|足夠的?|相关的?|相關的?|任何)*(?:信息|資訊|资料|資料|内容|答案)",
        r"(?:上下文|文档|文檔|资料)(?:中)?(?:没有|沒有|未|并未)(?:提及|提供|包含)",
    ),
    "ja": (
        r"(?:わかりません|分かりません|存じません|お答えできません|回答できません|見つかりません|見つけられません)",
        r"(?:情報|回答|答え)(?:が|は)(?:\w{0,6})(?:ありません|ございません|見つかり)",
    ),
}
"""Patterns by language; texts are in lower case."""

HINTS: dict[str, tuple[str, ...]] = {
    "en": ("n't", "n’t", " not ", "no ", "unable", "insufficient", "cannot"),
    "de": ("nicht", "kein"),
    "fr": ("pas", "aucun", "incapa", "ne c", "ne m"),
    "es": ("no ",),
    "it": ("non ",),
    "pt": ("não ",),
    "nl": ("niet", "geen", "onvoldoende"),
    "pl": ("nie", "brak"),
    "ru": ("не", "ничего"),
    "zh": ("不", "无", "無", "没", "沒", "未", "缺"),
    "ja": ("ません", "ありま", "見つか"),
}
"""Without one of these letters no pattern of the language can be there: looking for them is thirty times faster."""
_PATTERNS = {language: re.compile("|".join(each)) for language, each in WORDS.items()}
_SENTENCES = re.compile(r"(?:[^.!?。！？\n]*[.!?。！？\n]+){1,2}")
HEAD = 400
"""Characters of an answer that are looked at."""


def refuses(answer: str) -> bool:
    """Whether an answer begins by saying that it has none.

    >>> refuses("I don't know the answer to that."), refuses("It opens at nine. I don't drink coffee.")
    (True, False)
    """
    head = answer[:HEAD].lower()
    first = _SENTENCES.match(head)
    head = first[0] if first else head
    for language, hints in HINTS.items():
        for hint in hints:
            if hint in head:
                if _PATTERNS[language].search(head):
                    return True
                break
    return False
