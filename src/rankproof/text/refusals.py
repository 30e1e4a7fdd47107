"""Answers that say "I don't know", recognised by their words in fourteen languages.

Only the first two sentences count: an answer that first says what it knows and then what it does not is no refusal.
On the labelled lists in `tests/text` precision and recall are stated and checked.
"""

from __future__ import annotations

import re
from functools import cache

WORDS: dict[str, tuple[str, ...]] = {
    "en": (
        r"\b(?:i|we) (?:really |honestly )?(?:do not|don't|dont) (?:know(?! of an?y? [^.]{1,40} than)|have (?:(?:any|enough|sufficient|the|that|this) )?(?:\w+ )?(?:information|data|details|context|access|answer))",
        r"\bi(?:'m| am) (?:sorry,? (?:but )?)?(?:i )?(?:not able|unable|not sure|afraid i (?:can|do)n[o']t)",
        r"\bi (?:cannot|can't|can not|could not|couldn't|was unable to|am unable to) (?:really )?(?:find|answer|help|provide|determine|locate|assist|tell|confirm)",
        r"\b(?:there is|there's|(?:i|we)(?: have|'ve)) (?:no|not enough|insufficient) (?:\w+ )?(?:information|data|answer|context|mention|documentation|evidence\b(?! that\b))",
        r"\b(?:the )?(?:provided |given |available |retrieved )?(?:context|documents?|sources?|passages?|text|information|article)(?: provided| available)? (?:do(?:es)? not|did not|don't|doesn't|didn't) (?:contain|mention|include|provide|say|specify|cover|state|address|discuss|answer|give|have (?:the|an|any) (?:answer|information))",
        r"\bno (?:relevant )?(?:information|results?|answer|documents?) (?:was|were|is|could be|has been|have been) (?:found|available)",
        r"\b(?:unable|not able) to (?:find|answer|provide|determine|locate|say|tell|confirm)",
        r"\b(?:is|are) not (?:mentioned|specified|stated|covered|provided|available) in the",
        r"\b(?:i|we) (?:cannot|can't|can not|couldn't|could not) (?:say|tell)(?: for (?:sure|certain))?(?:[.!?]|$)",
        r"\b(?:i(?:'m| am)|we(?:'re| are)) not aware of (?:any|that|this)\b",
        r"\b(?:is not|isn't) something (?:that )?i (?:can|know)",
        r"\b(?:nothing|none of the \w+|no \w+) in (?:the|my|these|our) (?:\w+ )?(?:knowledge base|documents?|sources?|context|materials?|database)\b",
        r"n't (?:been )?able to (?:find|answer|provide|determine|locate|say|tell|help)",
        r"\b(?:i(?:'m| am)|we(?:'re| are)) (?:really |honestly )?(?:unsure|not (?:sure|certain))\b",
        r"\b(?:i|we) have no (?:idea|clue|way of (?:know|tell))",
        r"\b(?:we|i) (?:cannot|can't|could not|couldn't|did not|didn't) (?:find|locate|see) (?:any (?:\w+ )?(?:information|answer|mention|reference|documents?|data|results?|details)|any(?:thing)? (?:\w+ )?(?:about|on|for|matching|that answers)\b|an answer|the answer|that|this|it\b)",
        r"\b(?:information|answer|detail|details|data)\b[^.]{0,40}\b(?:is not|isn't|are not|aren't) (?:available to me|in the (?:\w+ )?(?:files?|documents?|context|sources?|text))",
        r"\b(?:no|not enough|insufficient) (?:\w+ )?(?:information|answer|context|data|details) (?:\w+ ){0,3}(?:available|provided|given|to answer|to determine|about|regarding)\b",
        r"\b(?:is|are|was|were) not (?:mentioned|stated|specified|provided|given|discussed|available|found) (?:\w+ ){0,2}(?:in|by|from) (?:the|this|these|any) (?:\w+ )?(?:texts?|passages?|contexts?|documents?|articles?|sources?)",
        r"\b(?:question|answer|it|this) (?:cannot|can't|can not|could not) be (?:answered|determined|inferred|found\W*$)",
        r"\b(?:cannot|can't|could not) be (?:answered|determined|inferred) (?:from|based|with|by)\b",
        r"^(?:no answer(?: found)?|unanswerable|n/a|unknown|no idea|not (?:available|found|specified|mentioned|stated|sure)|none)\W*$",
        r"^sorry,? (?:but )?(?:i|we)\b[^.]{0,15}\b(?:cannot|can't|could not|couldn't|have nothing)\b",
    ),
    "de": (
        r"\b(?:das )?wei(?:ß|ss) ich (?:leider )?nicht",
        r"\bich wei(?:ß|ss) (?:es |das )?(?:leider )?nicht",
        r"\b(?:habe ich|ich habe|wir haben|liegen mir|liegen uns|gibt es|es gibt|finde ich|ich finde|enth(?:ä|ae)lt|enthalten) (?:hierzu |dazu |dar(?:ü|ue)ber |leider )*(?:keine?n?|nicht gen(?:ü|ue)gend) (?:\w+ )?(?:information(?:en)?|angaben?|antwort(?:en)?|daten|hinweise?|auskunft)\b",
        r"^(?:leider )?(?:keine|nicht gen(?:ü|ue)gend) (?:antwort|angaben?|informationen|daten)\W*$",
        r"\b(?:kann|konnte|können|koennen) (?:ich |wir )?(?:\w+ ){0,5}(?:leider )?(?:nicht|keine?n?) (?:\w+ )?(?:finden|beantworten|gefunden|helfen|antwort)",
        r"\bkeine (?:\w+ )?(?:informationen?|angaben|antwort|ergebnisse) (?:\w+ )?(?:gefunden|vorhanden|verf(?:ü|ue)gbar|enthalten)",
        r"\b(?:kann|konnte|können|konnten) (?:ich |wir )?(?:\w+ ){0,6}(?:keine auskunft|nicht (?:mit sicherheit )?sagen|nichts (?:\w+ ){0,6}finden|nichts gefunden)",
        r"\b(?:dokument\w*|unterlagen|quellen?|kontext|texte?n?)\b[^.]{0,60}\b(?:nicht|nichts|keine?n?)\b[^.]{0,40}(?:erwähnt|erwaehnt|enthalten|angegeben|genannt|hervor|informationen|angaben|aussage)",
        r"\b(?:nicht|nichts|keine?n?)\b[^.]{0,30}\b(?:in den (?:\w+ )?(?:dokumenten|unterlagen|quellen)|im (?:\w+ )?kontext)",
        r"\b(?:lässt|laesst) sich (?:\w+ ){0,6}nicht (?:\w+ )?(?:beantworten|sagen|entnehmen|ermitteln|feststellen)",
        r"\bich bin (?:mir )?(?:da |hier )?(?:leider )?nicht sicher",
        r"\b(?:dokumente|unterlagen|quellen|texte) (?:geben|sagen|enthalten) (?:\w+ ){0,3}(?:nichts|keine)\b",
        r"\b(?:hierzu|dazu|darüber) (?:kann|können|konnte) (?:ich|wir) (?:leider )?(?:nichts|keine \w+) (?:sagen|finden|geben)",
    ),
    "fr": (
        r"\bje (?:ne |n['’])(?:sais pas|connais pas la réponse|peux pas (?:répondre|vous aider|trouver)|trouve (?:pas|aucune)|dispose (?:pas|d['’]aucune)|ai (?:pas|trouvé aucune|aucune|pas trouvé))",
        r"\bje suis (?:désolée?,? (?:mais )?)?(?:dans l['’]incapacité|incapable) de (?:répondre|trouver)",
        r"\b(?:aucune information|il n['’]y a (?:pas|aucune) (?:d['’])?information|pas (?:assez )?d['’]information)",
        r"\b(?:le contexte|les documents?|le document) (?:\w+ )?ne (?:contien(?:t|nent)|mentionn(?:e|ent)) (?:pas|aucune)",
        r"\bje n['’]ai (?:\w+ )?(?:pas|rien|aucune?)\b[^.]{0,20}(?:trouv|répon|informations?|réponse|accès)",
        r"\b(?:sources?|documents?|contexte|éléments|extraits?)\b (?:\w+ )?ne (?:permet(?:tent)? pas|précis\w+ (?:pas|rien)|dis\w+ (?:rien|pas)|parl\w+ pas)",
        r"\bje ne suis pas (?:\w+ )?(?:en mesure|sûre?|certaine?|capable)",
        r"\b(?:ne figure|n['’]est|n['’]apparaît|ne se trouve|ne sont|n['’]est mentionnée?)(?:nt)? (?:pas|nulle part)\b[^.]{0,25}\bdans (?:le|les|la|ces|ce) (?:\w+ )?(?:contexte|documents?|sources?|texte)",
        r"\bje l['’]ignore\b",
        r"\baucune (?:réponse|information|donnée|mention) n['’](?:a|est)",
        r"\b(?:contexte|documents?|sources?|textes?)(?: \w+)? (?:ne |n['’]en )(?:contien(?:t|nent)|mentionn(?:e|ent)|parl(?:e|ent)) (?:pas|aucune|rien)",
    ),
    "es": (
        r"\bno (?:lo )?(?:sé|se la respuesta|dispongo de|tengo (?:suficiente )?(?:información|datos|acceso|la respuesta))",
        r"\bno (?:puedo|pude|he podido) (?:encontrar|responder|ayudar|contestar|determinar)",
        r"\bno (?:encontr(?:é|e)|he encontrado|hay|existe|se encontró) (?:ninguna |suficiente )?(?:información|respuesta|datos|resultados)",
        r"\b(?:el contexto|los documentos|el documento) (?:\w+ )?no (?:contienen?|mencionan?|incluyen?)",
        r"\bno (?:tengo|dispongo de|cuento con) (?:(?:esa|esta|la|ninguna|suficiente|más) )?(?:información|informacion|datos|acceso|respuesta)",
        r"\bno se (?:menciona|indica|especifica|encuentra|encontr\w+|habla|dice|detalla)\b[^.]{0,60}(?:documento|contexto|fuentes|texto|información)",
        r"\bno (?:encontré|he encontrado|encuentro|pude encontrar|logré encontrar) (?:nada|ning)",
        r"\bno estoy segur[oa]",
        r"\bno (?:encuentro|encontré|hallo|hallé) (?:esa|esta|la|dicha) (?:información|respuesta)",
        r"\bdesconozco (?:la|esa|el|ese|esta)\b",
        r"^no (?:lo sabemos|sabemos|se (?:menciona|especifica|indica|dice))\b",
        r"\b(?:texto|contexto|documentos?|fuentes?)(?: \w+){0,2} no (?:se )?(?:menciona|especifica|contiene|indica)",
    ),
    "it": (
        r"\bnon (?:lo )?(?:so\b|conosco la risposta|dispongo di|ho (?:abbastanza |sufficienti )?(?:informazioni|dati|trovato))",
        r"\bnon (?:posso|riesco a|sono in grado di|ho potuto) (?:trovare|rispondere|aiutar|fornire)",
        r"\bnon (?:ci sono|c['’]è|sono disponibili) (?:\w+ )?(?:informazioni|risposta|dati)",
        r"\b(?:il contesto|i documenti|il documento) (?:\w+ )?non (?:contien|contengono|menziona)",
        r"\bnon sono (?:riuscit[oa]|stat[oa] in grado) (?:a |di )(?:trovare|rispondere|individuare)",
        r"\bnon (?:ho trovato|trovo) (?:nulla|niente|alcun)",
        r"\bnon (?:si (?:menziona|parla|trova|dice)|(?:è|viene|sono) (?:menzionat|indicat|specificat)\w)\b[^.]{0,60}(?:document|contesto|fonti|testo)",
        r"\bnon sono (?:sicur|cert)[oa]",
        r"\b(?:testo|contesto|document[oi])(?: \w+)? non (?:contien\w+|contengono|menziona\w*|indica\w*|riporta\w*) (?:quest|alcun|informazion|dett)",
        r"\bnon è possibile (?:rispondere|determinare|stabilire)",
        r"^non (?:è|viene) (?:menzionat|specificat|indicat)",
    ),
    "pt": (
        r"\b(?:eu )?não (?:sei\b|conheço a resposta|disponho de|tenho (?:informaç|dados|acesso|a resposta|certeza))",
        r"\bnão (?:posso|consigo|consegui|foi possível|pude) (?:encontrar|responder|ajudar|localizar)",
        r"\bnão (?:encontrei|há|existe|foram encontrad[ao]s) (?:nenhuma |suficientes? )?(?:informaç|resposta|dados|resultados)",
        r"\b(?:o contexto|os documentos|o documento) (?:\w+ )?não (?:contém|contêm|menciona)",
        r"\bnão (?:tenho|disponho d[ea]|possuo) (?:(?:essa|esta|a|nenhuma|mais) )?(?:informaç|dados|acesso|resposta)",
        r"\bnão encontrei (?:nada|nenhum)",
        r"\bnão (?:é|foi|está|são|há) (?:mencionad|indicad|especificad|referid|menção|informaç)\w*[^.]{0,60}(?:documento|contexto|fontes|texto)",
        r"\bnão estou cert[oa]",
        r"\bdesconheço (?:a|o|essa|esse)\b",
        r"\bnão é possível (?:responder|determinar)",
        r"^não (?:é|está|foi) (?:mencionad|especificad|indicad)",
    ),
    "nl": (
        r"\b(?:dat )?weet ik (?:helaas )?niet",
        r"\bik weet (?:het |dat )?(?:helaas )?niet",
        r"\b(?:ik heb|ik vind|er is|er zijn|beschik ik over|heb ik) (?:hierover |daarover |helaas )*(?:geen|onvoldoende) (?:\w+ )?(?:informatie|gegevens|antwoord)",
        r"\bik kan (?:\w+ ){0,5}(?:niet|geen) (?:\w+ )?(?:vinden|beantwoorden|helpen|antwoord)",
        r"\b(?:niet|niets|geen \w+) (?:\w+ ){0,3}in (?:de|het|mijn) (?:\w+ )?(?:documenten|document|context|bronnen|bron|tekst)",
        r"\b(?:niets|niet) (?:\w+ ){0,3}(?:kunnen )?(?:vinden|gevonden)\b",
        r"\bik ben (?:er |het )?niet zeker",
        r"\b(?:daar|hier|hierop|daarop) (?:kan|kon) ik (?:\w+ ){0,3}(?:geen|niets|niet)\b",
        r"\b(?:documenten|bronnen|teksten) (?:zeggen|vermelden|bevatten) (?:\w+ ){0,3}(?:niets|niet|geen)\b",
        r"^geen (?:informatie|antwoord)\b",
        r"\b(?:daar|hier) is geen (?:informatie|antwoord|gegevens)",
    ),
    "pl": (
        r"\bnie (?:wiem|znam odpowiedzi|mam (?:wystarczających )?(?:informacji|danych|odpowiedzi)|posiadam (?:\w+ )?informacji)",
        r"\bnie (?:mogę|potrafię|jestem w stanie|udało mi się) (?:\w+ )?(?:znaleźć|odpowiedzieć|pomóc|udzielić)",
        r"\b(?:brak|nie znalaz(?:łem|łam)|nie znaleziono) (?:\w+ )?(?:informacji|odpowiedzi|wyników)",
        r"\bnie mam (?:(?:takich|tych|żadnych|wystarczających|na ten temat) )?(?:informacji|danych|wiedzy|odpowiedzi)",
        r"\bnie ma (?:\w+ )?(?:informacji|wzmianki|odpowiedzi|danych)",
        r"\bnie (?:wspominają|wspomina|zawierają informacji|podano)\b",
        r"\bnie jestem pew(?:ien|na)",
        r"\bnie (?:znalazłem|znalazłam|znaleziono|znajduję)\b[^.]{0,40}(?:źródł|dokument|kontek|odpowied|informacj)",
    ),
    "ru": (
        r"(?:^|\s)я не (?:знаю|могу (?:найти|ответить|помочь)|нашел|нашёл|нашла|располагаю)",
        r"(?:^|\s)(?:к сожалению,? )?(?:у меня )?нет (?:\w+ )?(?:информации|данных|сведений|ответа)",
        r"(?:не удалось найти|информация не найдена|ничего не найдено)",
        r"(?:контекст|документы?)\w* не содерж",
        r"^(?:к сожалению,? |извините,? )?(?:я )?не знаю",
        r"(?:^|\s)ничего не (?:сказано|говорится|найдено|указано|упоминается|наш[её]л|нашла)",
        r"(?:документ|контекст|источник|материал|текст)\w*[^.]{0,40}(?:не (?:упом|содерж|указ|сказ|говор)|нет (?:\w+ )?(?:информации|ответа|данных))",
        r"(?:^|\s)я не уверен",
        r"(?:^|\s)мне (?:это |об этом )?(?:не ?известно)",
        r"(?:^|\s)не могу (?:найти|ответить|сказать) ?(?:эту|это|на|точно|ответ|информац)?",
        r"недостаточно (?:информации|данных)",
        r"^(?:это )?не (?:упоминается|указано|сказано)",
    ),
    "zh": (
        r"(?:(?<![您你们客果])(?:不知道|不清楚)|無法回答|无法回答|没有找到|沒有找到|找不到|无法找到|無法找到|不确定答案)",
        r"(?:没有|沒有|缺乏|未找到)(?:足够的?|足夠的?|相关的?|相關的?|任何)*(?:信息|資訊|资料|資料|内容|答案)",
        r"(?:上下文|文档|文檔|资料)(?:中)?(?:没有|沒有|未|并未)(?:提及|提供|包含)",
        r"(?:没有|沒有|缺乏|未找到|未能找到|没找到|找不到)[^。，]{0,12}(?:信息|資訊|资料|資料|内容|答案)",
        r"(?:文档|文檔|文件|资料|資料|上下文|来源)[^。]{0,8}(?:没有|沒有|未|并未)[^。]{0,4}(?:提到|提及|提供|包含|说明|說明)",
        r"(?:无法|無法|不能)[^。，]{0,12}(?:回答|确定|確定|找到|提供)",
        r"回答不了|答不上来",
        r"(?:没有|沒有)(?:相关|相關)(?:的)?(?:数据|數據|记录|記錄)",
        r"(?:文中|文章|文本)(?:没有|沒有|未|并未)[^。]{0,4}(?:提到|提及|提供|包含|说明|說明)",
    ),
    "ja": (
        r"(?:わかりません|分かりません|存じません|お答えできません|回答できません|見つかりません|見つけられません)",
        r"(?:情報|回答|答え)(?:が|は)(?:\w{0,6})(?:ありません|ございません|見つかり)",
        r"(?:記載|言及|説明)(?:が|は)?(?:ありません|ございません|されていません|見つかりません)",
        r"(?:情報|資料|文書|文脈)[^。]{0,20}(?:確認|特定|判断)できません",
        r"(?:分|わ)かりかねます",
        r"(?:資料|文書|文脈|ドキュメント)[^。]{0,12}(?:書かれて|載って|含まれて)い(?:ません|ない)",
        r"(?:わから|分から|判ら)ない(?:です|。|$)|(?:^|。)知りません|答えられ(?:ません|ない(?:です|。|$))",
        r"(?:情報|記載|記述)(?:が|は)\w{0,6}(?:不足|ない(?:です|。|$))",
    ),
    "ar": (
        r"(?:^|\s)لا (?:أعرف|اعرف|أعلم|اعلم|أدري|أملك (?:\w+ )?(?:معلومات|إجابة))",
        r"(?:^|\s)لا (?:يمكنني|أستطيع|يمكننا|نستطيع) (?:الإجابة|الاجابة|العثور|تقديم|تحديد|إيجاد)",
        r"(?:^|\s)لا (?:توجد|تتوفر|يوجد|تتوافر) (?:\w+ ){0,2}(?:معلومات|إجابة|بيانات)",
        r"(?:^|\s)(?:ليس|ليست) (?:لدي|لدينا|عندي) (?:\w+ )?(?:معلومات|إجابة|فكرة)",
        r"(?:^|\s)لم (?:أجد|أعثر|نجد|أتمكن)",
        r"(?:النص|السياق|المستند|المستندات|الوثائق|المصادر)(?: \w+)? لا (?:يذكر|تذكر|يحتوي|تحتوي|يتضمن|تتضمن)",
        r"(?:^|\s)(?:لست|غير) متأكد",
    ),
    "hi": (
        r"(?:मुझे|हमें) [^।]{0,30}(?:नहीं पता|पता नहीं|नहीं मालूम|मालूम नहीं|नहीं मिल)",
        r"(?:^|\s)मैं [^।]{0,30}नहीं (?:जानत|बता सक|दे सक|ढूँढ|ढूंढ)",
        r"(?:जानकारी|उत्तर|जवाब)[^।]{0,15}(?:नहीं (?:है|मिल|दिय|दी)|उपलब्ध नहीं)",
        r"(?:दस्तावेज़|दस्तावेज|संदर्भ|स्रोत|पाठ)[^।]{0,40}(?:उल्लेख|जानकारी|बताया|कुछ) नहीं",
        r"(?:मुझे|मैं) [^।]{0,15}(?:यकीन नहीं|निश्चित नहीं)",
    ),
    "ko": (
        r"모르겠|(?:^|\s)모릅니다",
        r"(?:알|찾을|확인할|답할|답변할|답변드릴|말씀드릴|답변을 드릴) 수 ?(?:가 )?없(?:습니다|어요|네요|었)",
        r"(?:정보|내용|자료|답변|답)(?:가|이|를|을|은|는)? ?[^.]{0,10}(?:없습니다|없어요|없네요|부족합니다|찾지 못했)",
        r"(?:언급|명시|기재|포함)되어 있지 않",
        r"확실하지 않",
    ),
}
"""Patterns by language; texts are in lower case."""
HINTS: dict[str, tuple[str, ...]] = {
    "en": (
        "n't",
        "dont",
        "not ",
        "no ",
        "unable",
        "insuffic",
        "nothing",
        "none",
        "unsure",
        "unanswer",
        "unknown",
        "n/a",
    ),
    "de": ("nicht", "kein"),
    "fr": ("pas", "aucun", "incapa", "ne c", "ne m", "ignore", "rien", "nulle"),
    "es": ("no ", "desconozco"),
    "it": ("non ",),
    "pt": ("não ", "desconheço"),
    "nl": ("niet", "geen", "onvoldoende"),
    "pl": ("nie", "brak"),
    "ru": ("не", "ничего"),
    "zh": ("不", "无", "無", "没", "沒", "未", "缺"),
    "ja": ("ません", "ありま", "見つか", "ない", "かねます", "不足"),
    "ar": ("لا ", "ليس", "لم ", "لست", "غير متأكد"),
    "hi": ("नहीं",),
    "ko": ("모르겠", "모릅", "없", "않", "부족", "못"),
}
"""Without one of these letters no pattern of the language can be there: looking for them is thirty times faster."""


@cache
def _compiled(language: str) -> re.Pattern[str]:
    """All patterns as one; those of whole words are tried where a word begins only, which is three times faster."""
    patterns = WORDS[language]
    whole = "|".join(each.removeprefix(r"\b") for each in patterns if each.startswith(r"\b"))
    others = [each for each in patterns if not each.startswith(r"\b")]
    return re.compile("|".join([*([rf"\b(?:{whole})"] if whole else ()), *others]))


_SENTENCES = re.compile(r"(?:[^.!?。！？\n]*[.!?。！？\n]+){1,2}")
HEAD = 400
"""Characters of an answer that are looked at."""


def refuses(answer: str) -> bool:
    """Whether an answer begins by saying that it has none.

    >>> refuses("I don't know the answer to that."), refuses("It opens at nine. I don't drink coffee.")
    (True, False)
    """
    head = answer[:HEAD].lower().replace("’", "'")
    first = _SENTENCES.match(head)
    head = first[0] if first else head
    told = (language for language, hints in HINTS.items() if any(hint in head for hint in hints))
    return any(not _cites(head, *each.span()) for language in told for each in _compiled(language).finditer(head))


QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|‘[^']*'(?!\w)|(?<!\w)'.{1,80}?'(?!\w)")
SAYS = re.compile(
    r"(?:^|\b(?:you|they|he|she|who|users?|people|customers?)\b[^.!?]{0,20} )(?:please )?"
    r"(?:says?|said|answer(?:s|ed)?|repl(?:y|ies|ied)|choose|select|press|tick|write|type) $"
)


def _cites(head: str, start: int, end: int) -> bool:
    """Whether words are quoted, or said by others, in a sentence about them; an answer may be a quotation as a whole."""
    for quote in QUOTED.finditer(head):
        if quote.start() <= start and end <= quote.end():
            before, after = head[: quote.start()].strip(), head[quote.end() :].strip(" .!?\n")
            return bool(after or (before and before[-1] not in ":："))
    return SAYS.search(head[:start]) is not None


LONGEST = 60
"""Words; a longer answer says something nevertheless."""


def abstains(answer: str) -> bool:
    """Whether an answer says that it has none, and hardly anything else.

    >>> [abstains(a) for a in ("I don't know.", "Das weiß ich leider nicht.", "他不是医生。")]
    [True, True, False]
    """
    return len(answer.split()) <= LONGEST and refuses(answer)
