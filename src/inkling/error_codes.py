"""Every error code with its one-line title; a code is never given a second meaning.

| codes   | about                                   |
|---------|-----------------------------------------|
| INK01xx | the text is not a program               |
| INK02xx | names and types                         |
| INK03xx | meaning: a program that cannot be right |
| INK04xx | right, but not supported yet            |
| INK05xx | data, paths and options                 |
| INK09xx | mistakes of inkling itself              |
"""

CODES: dict[str, str] = {
    "INK0101": "unexpected word or symbol",
    "INK0102": "the statement stops too early",
    "INK0103": "a statement does not end with `;`",
    "INK0104": "a quote is not closed",
    "INK0105": "brackets do not match",
    "INK0106": "a character that means nothing here",
    "INK0107": "unknown word where only certain words may stand",
    "INK0108": "an operator of another language",
    "INK0109": "double quotes around a text",
    "INK0110": "a clause stands twice",
    "INK0111": "unknown unit",
    "INK0112": "impossible bounds of a repetition",
    "INK0113": "a comma with nothing after it",
    "INK0114": "a comma is missing",
    "INK0115": "a word is missing",
    "INK0116": "a number out of range",
    "INK0117": "wrong arguments of a built-in function",
    "INK0118": "a comparison inside a comparison",
    "INK0119": "nested too deeply",
    "INK0120": "unknown kind of statement",
    "INK0121": "a reserved word used as a name",
    "INK0901": "inkling failed",
}
