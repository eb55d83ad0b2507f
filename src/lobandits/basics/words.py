"""Words of messages and printed forms."""


def counted(number: int, noun: str) -> str:
    """Return "1 state", "2 states"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
