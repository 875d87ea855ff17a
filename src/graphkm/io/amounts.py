"""Amounts: numbers with a currency, a percent sign or thousands separators."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

# ISO 4217. A code that is none of them, as in RUN 12, is part of a name.
_ISO_4217 = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN
    BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS
    GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW
    KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD
    NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD
    SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND
    VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
"""
_CODES = frozenset(_ISO_4217.split())
_UNIT = r"([A-Z]{3}|[^\w\s.,'\u2019+-])?"
_AMOUNT = re.compile(rf"([+-]?)\s*{_UNIT}\s*([+-]?)([0-9][0-9.,'\u2019\s]*?)\s*{_UNIT}")
_POINT, _COMMA = "1,234.5", "1.234,5"  # how their numbers are written
_NUMBERS = {
    style: re.compile(
        rf"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?P<sign>[{style[1]}'\u2019\s])[0-9]{{3}}(?:(?P=sign)[0-9]{{3}})*)"
        rf"(?:{re.escape(style[5])}[0-9]+)?"
    )
    for style in (_POINT, _COMMA)
}


def amount_kind(cells: set[str]) -> str | None:
    """Return the kind of cells that are all amounts: what they look like; None for other cells.

    Raises
    ------
    ValueError
        If a comma may stand before decimals, or between thousands.

    Examples
    --------
    >>> amount_kind({"EUR 1,234.50", "EUR 7"}), amount_kind({"12 %"}), amount_kind({"3,5 €"})
    ('EUR 1,234.5', '1,234.5 %', '1.234,5 €')
    >>> amount_kind({"RUN 1"}), amount_kind({"EUR 1", "USD 1"})
    (None, None)
    """
    found = [_split(cell) for cell in cells]
    units = {parts and parts[0] for parts in found}
    if len(units) != 1 or None in units:
        return None
    unit, numbers = units.pop(), [parts[1] for parts in found if parts]
    fits = [style for style, form in _NUMBERS.items() if all(map(form.fullmatch, numbers))]
    if not fits or (not unit and any(" " in number for number in numbers)):
        return None
    if len(fits) == 2 and any("," in number for number in numbers):
        example = next(number for number in numbers if "," in number)
        raise ValueError(
            f"{example!r} may be a fraction or a number above a thousand; write it without a comma"
        )
    after = not unit or unit == "%" or next(iter(cells)).endswith(unit)
    return f"{fits[0]} {unit}".strip() if after else f"{unit} {fits[0]}"


def _split(cell: str) -> tuple[str, str, str] | None:
    """Return the unit, the number and the sign of an amount; None if the cell is none."""
    match = _AMOUNT.fullmatch(cell)
    if match is None or (match[1] and match[3]) or (match[2] and match[5]):
        return None
    unit = match[2] or match[5] or ""
    known = unit in ("", "%") or unit in _CODES
    known = known or (len(unit) == 1 and unicodedata.category(unit) == "Sc")
    return (unit, match[4], match[1] or match[3]) if known else None


def is_amount(kind: str) -> bool:
    """Return whether a kind of columns is one of amounts."""
    return _POINT in kind or _COMMA in kind


def amount_reader(kind: str) -> Callable[[str], float]:
    """Return what reads an amount of this kind; it raises ValueError for other cells.

    Examples
    --------
    >>> amount_reader("EUR 1,234.5")("EUR -1,500.25"), amount_reader("1.234,5 €")("2.500 €")
    (-1500.25, 2500.0)
    """
    style = _POINT if _POINT in kind else _COMMA
    wanted = kind.replace(style, "").strip()

    def read(cell: str) -> float:
        found = _split(cell)
        if found is None or found[0] != wanted or not _NUMBERS[style].fullmatch(found[1]):
            raise ValueError(cell)
        whole, _, part = found[1].partition(style[5])
        return float(f"{found[2]}{re.sub(r'[^0-9]', '', whole)}.{part or 0}")

    return read
