"""Orders of your own: partial ones, from relations; drawn, saved, and used.

Four ways to remind a patient. Past patients fall into three groups; of some groups only a few
relations are certain, and what is not said stays open.
"""

import lobandits as lob

ARMS = ["app", "call", "letter", "text"]
GROUPS = [
    [("app", "text"), ("text", "letter"), ("call", "letter")],
    [("call", "app"), ("call", "text"), ("letter", "app")],
    [("text", "app"), ("text", "call")],
]


def main() -> None:
    orders = lob.LatentOrders.from_relations(len(ARMS), GROUPS, arms=ARMS)
    print(orders, end="\n\n")
    tops = ", ".join(arm for arm, on_top in zip(orders.arms, orders.tops, strict=True) if on_top)
    print("can be best:", tops)
    print("groups that contradict each other:\n", orders.incompatible().astype(int), sep="")
    orders.save("orders.json")
    orders.plot().savefig("orders.png", dpi=150)

    policy = lob.LobUCB(lob.LatentOrders.load("orders.json"), sigma=0.3)
    state = policy.start()
    arms = [orders.arms.index(name) for name in ["call", "text", "app", "call", "text"] * 8]
    answered = [0.8, 0.3, 0.2, 0.9, 0.4] * 8
    policy.record(state, arms, answered, users=0)
    print(f"\n{policy.explain(state)}")
    print("\nwrote orders.json and orders.png")


if __name__ == "__main__":
    main()
