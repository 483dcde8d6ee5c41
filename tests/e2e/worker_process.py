"""Starts worker.py, sends tests to it, and ends it if it does not answer."""

import contextlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

import harness
import scheduler

ANSWER_MAX_S = 1200  # more than twice the time of the longest test with the start of its cluster
END_MAX_S = 60

WORKER = pathlib.Path(__file__).parent / "worker.py"


class WorkerProcess:
    """A worker with its own cluster. If a worker ends or does not answer, its test fails, and a new worker starts."""

    def __init__(self, name):
        self._name = name
        self._process = None

    def _start(self):
        environment = {**os.environ, harness.RUN_VARIABLE: self._name}
        self._process = subprocess.Popen([sys.executable, "-B", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, env=environment)
        self._answers = queue.Queue()
        threading.Thread(target=self._read, args=(self._process, self._answers), daemon=True).start()

    @staticmethod
    def _read(process, answers):
        for line in process.stdout:
            answers.put(line)
        answers.put(None)

    def run(self, test):
        if self._process is None:
            self._start()
        begun = time.monotonic()
        text = f"the worker did not answer within {ANSWER_MAX_S} s"
        with contextlib.suppress(BrokenPipeError):  # the worker has ended; the missing answer shows it
            self._process.stdin.write(f"{test}\n")
            self._process.stdin.flush()
        try:
            answer = self._answers.get(timeout=ANSWER_MAX_S)
            if answer is not None:
                return scheduler.Outcome(**json.loads(answer))
            text = f"the worker ended with {self._process.wait()}"
        except queue.Empty:
            self._process.kill()  # its cluster ends with it
        self.close()
        return scheduler.Outcome(passed=False, seconds=time.monotonic() - begun, text=text)

    def close(self):
        if self._process is None:
            return
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=END_MAX_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._process = None
