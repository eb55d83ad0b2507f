import subprocess
import sys


def test_orders_load_nothing_heavy() -> None:
    code = (
        "import sys, lobandits.orders\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'polars', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
