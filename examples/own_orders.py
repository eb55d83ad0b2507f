"""Orders of your own: partial ones, from relations; drawn, saved, and used.

Four ways to remind a patient, scored by the patient. Of three groups of past patients only some
relations are certain; what is not said stays open. Writes orders.json and orders.png.
"""

import numpy as np

import lobandits as lob

ARMS = ["app", "call", "letter", "text"]
GROUPS = [
    [("app", "text"), ("text", "letter"), ("call", "letter")],
    [("call", "app"), ("call", "text"), ("letter", "app")],
    [("text", "app"), ("text", "call")],
]
SCORES = {"app": 1.5, "call": 4.5, "letter": 2.5, "text": 2.0}  # the new patient's, unknown


def main() -> None:
    orders = lob.LatentOrders.from_relations(len(ARMS), GROUPS, arms=ARMS)
    print(orders, end="\n\n")
    for group, order in enumerate(orders):
        tops = [arm for arm, top in zip(order.arms, order.maximal, strict=True) if top]
        print(f"group {group}: the best is", " or ".join(tops))
    orders.save("orders.json")
    orders.plot().savefig("orders.png", dpi=150)

    agent = lob.Agent(lob.LobUCB(lob.LatentOrders.load("orders.json"), sigma=0.5), seed=0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        arm = agent.choose()
        agent.record(arm, rng.normal(SCORES[arm], 0.5))
    print(f"\n{agent.explain()}")
    print("\nwrote orders.json and orders.png")


if __name__ == "__main__":
    main()
