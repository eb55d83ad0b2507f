"""``python -m lobandits.cli`` is the command ``lob``."""

from lobandits.cli.app import main

if __name__ == "__main__":
    main()
