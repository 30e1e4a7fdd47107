"""Are two models one, by their names? A judge that ranked, embedded or wrote what it judges is partial to it.

Names are compared without what a provider puts before them and what versions put after them: `openai:gpt-4o`,
`azure/gpt-4o-2024-08-06` and a system called `rerank-gpt4o` are of one model; `gpt-4o-mini` is of its family.

Reference: A. Panickssery, S. Bowman, S. Feng: LLM evaluators recognize and favor their own generations, NeurIPS 2024.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from rankproof.core.audit.finding import Finding

SAME, FAMILY = "one model", "one family"
_START, _END = r"(?<![a-z])", r"(?![a-z])"
FAMILIES: Mapping[str, str] = {
    "OpenAI": r"gpt|chatgpt|o[134](?=$|[^a-z0-9]|mini)|davinci|text-embedding-(?:3|ada)",
    "Anthropic": r"claude",
    "Google": r"gemini|gemma|palm|text-bison|textembedding|text-embedding-0|embeddinggemma",
    "Llama": r"(?:code)?llama",
    "Mistral": r"mistral|mixtral|ministral|codestral|magistral|pixtral|rankzephyr|zephyr",
    "Qwen": r"qwen|qwq",
    "DeepSeek": r"deepseek",
    "Cohere": r"command-(?:r|a|light)|command" + _END + r"|cohere|rerank-(?:english|multilingual|v\d)"
    r"|embed-(?:english|multilingual|v\d)",
    "Grok": r"grok",
    "Phi": r"phi-?\d",
    "Nova": r"nova-(?:micro|lite|pro|premier)|titan-",
    "GLM": r"(?:chat)?glm",
    "Kimi": r"kimi|moonshot",
    "MiniMax": r"minimax",
    "Yi": r"yi-\d",
    "Jamba": r"jamba",
    "BGE": r"bge",
    "Jina": r"jina",
    "Nomic": r"nomic",
    "Voyage": r"voyage",
    "E5": r"e5(?=$|[^a-z0-9])|multilingual-e5",
    "MiniLM": r"minilm",
    "T5": r"(?:flan-|mono|rank)?t5" + _END,
}
"""How the models of one maker are called; where a name says several, the first in the name counts."""
FOUND = {maker: re.compile(f"{_START}(?:{names})") for maker, names in FAMILIES.items()}
DATES = re.compile(
    r"[-_@.]?(?<!\d)20\d\d[-_.]?(?:0[1-9]|1[0-2])(?:[-_.]?[0-3]\d)?(?!\d)|[-_](?:0[1-9]|1[0-2])[-_][0-3]\d(?!\d)"
    r"|[-_]\d\d[-_]20\d\d(?!\d)|[-_]\d{4}(?![\da-z])|@\d+|-v\d+:\d+|:\d+$|[-_]00[1-9](?!\d)"
)
"""Dates and numbers of states of a model."""
FORMS = re.compile(
    r"[-_.:](?:q\d+(?:_[a-z0-9]+)*|int[48]|fp\d+|bf16|gguf|awq|gptq|mlx|\d+bit|latest|preview|exp|experimental"
    r"|instruct|it|hf|chat|beta|free|online|api)(?![a-z0-9])"
)
"""Forms in which the same model is given out."""
VARIANTS = {
    *(
        "mini",
        "nano",
        "micro",
        "small",
        "medium",
        "large",
        "xl",
        "xxl",
        "base",
        "tiny",
        "lite",
        "light",
        "pro",
        "max",
    ),
    *(
        "flash",
        "turbo",
        "ultra",
        "haiku",
        "sonnet",
        "opus",
        "coder",
        "code",
        "vision",
        "vl",
        "o",
        "plus",
        "premier",
    ),
    *(
        "thinking",
        "reasoner",
        "nemo",
        "r",
        "a",
        "b",
        "high",
        "low",
        "audio",
        "search",
        "deep",
        "fable",
        "codex",
    ),
}
"""Words that make another model of a name."""


def model_of(name: str) -> tuple[str, tuple[str, ...]]:
    """The family that a name is of ("" if none is known), and the words of the model without dates and forms.

    >>> model_of("bedrock/us.anthropic.claude-3-5-sonnet-20240620-v1:0")
    ('Anthropic', ('claude', '3', '5', 'sonnet'))
    """
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    parts = re.split(r"[/:]", plain)
    for start in range(len(parts) - 1, 0, -1):  # what stands before is the provider's, where a model follows
        if any(pattern.search(parts[start]) for pattern in FOUND.values()):
            plain = ":".join(parts[start:])
            break
    places = {maker: found.start() for maker, pattern in FOUND.items() if (found := pattern.search(plain))}
    family = min(places, key=lambda each: places[each]) if places else ""
    own = plain[places[family] :] if family else re.split(r"[/:]", plain, maxsplit=1)[-1]
    if "embedding-00" not in own:  # a number of three figures that names the model itself
        own = DATES.sub("-", own)
    before = ""
    while own != before:
        before, own = own, FORMS.sub("", own)
    return family, tuple(re.findall(r"[^\W\d_]+|\d+", own))


def kinship_of(one: str, other: str) -> str:
    """Whether two names are of one model or of one family; "" if neither. Either may stand within a longer name.

    >>> kinship_of("openai:gpt-4o", "rerank-gpt4o-top50"), kinship_of("gpt-4o-mini", "gpt-4.1")
    ('one model', 'one family')
    >>> kinship_of("bm25", "gpt-4o")
    ''
    """
    (family, words), (others_family, others) = model_of(one), model_of(other)
    if not words or not others or family != others_family:
        return ""
    if not family:
        return SAME if words == others and len("".join(words)) > 2 else ""
    short, long = sorted((words, others), key=len)
    rest = long[len(short) :]
    alike = sorted(long[: len(short)]) == sorted(short)
    return SAME if alike and not (rest and (rest[0] in VARIANTS or rest[0].isdigit())) else FAMILY


def kin_of(judges: Iterable[str], makers: Mapping[str, Iterable[str]]) -> Iterator[Finding]:
    """A warning if a judge is of the model, or the family, of what made the things that it judges.

    `makers` names models by what they made: a system, "answers", "embedder".
    """
    found: dict[str, list[str]] = {SAME: [], FAMILY: []}
    for judge in judges:
        for role, names in makers.items():
            for name in dict.fromkeys(names):
                if kind := kinship_of(judge, name):
                    found[kind].append(f"{judge} judges {role}" + (f" ({name})" if name != role else ""))
    for kind, listed in found.items():
        if listed:
            yield Finding(
                *("warning", "judge-kin", len(listed)),
                f"The judge and what it judges are of {kind}: {'; '.join(listed[:3])}. A judge may be partial to its "
                "own.",
                advice="let a model of another maker judge, or test it against people: 'rankproof compare HUMAN RUNS "
                "--machine FILE'.",
            )
