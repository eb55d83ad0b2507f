"""Should I switch? A shop's logs of clicks, from a CSV file to a verdict and a report.

A third of the customers left one to five events, some products were shown far more often than
others, and nobody knows what customers like. `lobandits.evaluate` lets some customers teach, and
judges policies on the others.
"""

import numpy as np
import polars as pl

import lobandits as lob

CUSTOMERS, PRODUCTS = 300, ("shirt", "shoe", "hat", "sock", "coat", "belt")
rng = np.random.default_rng(3)
tastes = rng.uniform(0.05, 0.6, size=(3, len(PRODUCTS)))[rng.integers(3, size=CUSTOMERS)]
events = np.where(
    rng.random(CUSTOMERS) < 1 / 3, rng.integers(1, 6, CUSTOMERS), rng.integers(6, 60, CUSTOMERS)
)
customer = np.repeat(np.arange(CUSTOMERS), events)
shown = rng.choice(len(PRODUCTS), size=len(customer), p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
click = rng.random(len(customer)) < tastes[customer, shown]
logs = pl.DataFrame(
    {"customer": customer, "product": np.array(PRODUCTS)[shown], "click": click.astype(int)}
)
logs.write_csv("clicks.csv")

report = lob.evaluate(
    "clicks.csv",
    ["popular", "ts", "lobts", "lobbayes"],
    user="customer",
    arm="product",
    reward="click",
    n_states=3,  # leave it out, and held-out evidence chooses
)
print(report)
print(f"saved: {report.save_html('report.html')}")
