"""One new user: choose, record, explain, save and load.

Three groups of past users rank four genres differently. We know the rankings, not how this
user rates; twenty ratings tell which group this one resembles.
"""

import numpy as np

import lobandits as lob

RANKINGS = [
    ["drama", "comedy", "action", "horror"],
    ["action", "horror", "comedy", "drama"],
    ["comedy", "action", "drama", "horror"],
]
RATINGS = {"action": 3.6, "comedy": 2.9, "drama": 2.2, "horror": 3.3}  # nobody has told the agent


def main() -> None:
    orders = lob.LatentOrders.from_rankings(RANKINGS, arms=["action", "comedy", "drama", "horror"])
    print(orders, end="\n\n")

    agent = lob.Agent(lob.LobTS(orders, sigma=0.8), seed=0)
    rng = np.random.default_rng(1)
    for _ in range(20):
        genre = agent.choose()
        agent.record(genre, rng.normal(RATINGS[genre], 0.8))
    print(agent.explain(), end="\n\n")

    agent.save("agent.json")
    again = lob.Agent.load("agent.json")
    ahead = [agent.choose() for _ in range(5)]
    print("next choices:", ", ".join(ahead))
    print("the loaded agent makes the same:", [again.choose() for _ in range(5)] == ahead)


if __name__ == "__main__":
    main()
