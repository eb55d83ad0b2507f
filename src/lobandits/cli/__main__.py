"""``python -m lobandits.cli`` is the command ``lob``."""

from lobandits.cli import main

if __name__ == "__main__":
    main()
