"""Processes of our own end when the work ends, when it fails, and when this process is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lobandits.experiments.processes import own_processes

SCRIPT = """
import os, time
from lobandits.experiments.processes import own_processes
if __name__ == "__main__":
    with own_processes(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600).result()
"""


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_there(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_there(pid)


def test_they_work_elsewhere_and_are_gone_afterwards() -> None:
    with own_processes(1) as pool:
        pid = pool.submit(os.getpid).result()
        assert pid != os.getpid()
    assert gone_within(pid, 10)


def test_an_error_does_not_wait_for_their_work() -> None:
    pids: list[int] = []

    def interrupted() -> None:
        with own_processes(1) as pool:
            pids.append(pool.submit(os.getpid).result())
            pool.submit(time.sleep, 600)
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - began < 60
    assert gone_within(pids[0], 10)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_they_do_not_outlive_a_process_that_is_ended(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        pid = int(running.stdout.readline())
        running.send_signal(how)
        running.wait(30)
    assert gone_within(pid, 10)
