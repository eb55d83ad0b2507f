from lobandits.experiments.claims import (
    FAILS,
    HOLDS,
    UNTESTABLE,
    Claim,
    Estimate,
    Evidence,
    NotTestable,
    all_of,
    any_of,
    exactly,
    for_each,
    judge,
)
from lobandits.experiments.records import Records

UP, DOWN = Estimate("up", 9.0, 1.0, 100), Estimate("down", -9.0, 1.0, 100)


def test_findings_by_variant_or_the_reason_why_there_are_none() -> None:
    def test(records: Records) -> dict[str, Evidence]:
        if records.data:
            raise NotTestable("no data")
        return {"a": all_of([UP]), "b": all_of([DOWN])}

    claim = Claim("id", "where", "words", "statistic", test)
    assert [(f.variant, f.verdict) for f in judge(claim, Records({}))] == [
        ("a", HOLDS),
        ("b", FAILS),
    ]
    (finding,) = judge(claim, Records({}, "generated data"))
    assert (finding.verdict, finding.reason) == (UNTESTABLE, "no data")
    (finding,) = judge(claim, None, "broke")
    assert (finding.verdict, finding.reason) == (UNTESTABLE, "broke")


def test_each_variant_is_tested_with_its_values() -> None:
    def test(records: Records, low: float, high: float) -> list[Estimate]:
        return [exactly("low", low), exactly("high", high)]

    variants = {"both": (1.0, 2.0), "one": (-1.0, 2.0)}
    every, some = for_each(variants, test), for_each(variants, test, any_of)
    assert {n: e.verdict() for n, e in every(Records({})).items()} == {"both": HOLDS, "one": FAILS}
    assert {n: e.verdict() for n, e in some(Records({})).items()} == {"both": HOLDS, "one": HOLDS}
