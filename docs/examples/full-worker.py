#!/usr/bin/env python3
"""A worker in the full dialect (docs/wire-protocol.md §11.2): standard library only.

    python3 full-worker.py HOST PORT KEY

Runs py.upper, py.flaky (fails at its first attempt) and py.sleep (until it is cancelled), two at a time, until the
leader closes. KEY is id:hex, or - at a leader without keys.
"""
import json
import os
import queue
import struct
import sys
import threading
import time

from full_dialect import (
    HELLO_WORKER, NO_FIELDS, TRACEPARENT, Connection, bytes_, failure, int_, offer, parse_key, text, texts)

ASSIGN, REPORT, WORKER_HELLO, WELCOME, REFUSED, ACKNOWLEDGED, ABORT, STALE = 2, 3, 65, 66, 67, 74, 75, 82
OK, FAILED = 0, 1
SLOTS, BYTES = 2, 16 * 1024 * 1024


def upper(value, _attempt, _aborted):
    return value.upper()


def flaky(value, attempt, _aborted):
    if attempt == 1:
        raise ValueError("the first attempt fails")
    return value


def sleep(seconds, _attempt, aborted):
    aborted.wait(seconds)
    return "slept"


HANDLERS = {"py.upper": upper, "py.flaky": flaky, "py.sleep": sleep}


class Worker:
    def __init__(self, host, port, key, name="python-worker"):
        self.connection = Connection(host, port, HELLO_WORKER, name, key)
        self.running, self.unacknowledged, self.ended = {}, {}, queue.SimpleQueue()
        self.granted, self.granted_bytes = SLOTS, BYTES
        self.heartbeat = None
        execs = [f"{exec_name.split('.')[0]}/{exec_name}" for exec_name in HANDLERS]  # group/exec
        self.connection.write(WORKER_HELLO, offer() + text(name) + text(os.urandom(6).hex()) + texts(execs)
                              + texts(["job.assign.>"]) + int_(SLOTS) + self.credit() + text("") + NO_FIELDS)

    def credit(self):
        """Totals ever granted in this session."""
        return int_(self.granted) + int_(self.granted_bytes)

    def work(self):
        reported_at = time.monotonic()
        while True:
            message = self.connection.read(0.02)
            if message:
                self.receive(*message)
            if self.heartbeat is None:
                continue
            ends = self.take_ends()
            # A report renews the leases of this worker, with or without ends.
            if ends or time.monotonic() - reported_at >= self.heartbeat / 2:
                load = struct.pack("<d", 0.0) + int_(0)
                self.connection.write(REPORT, self.credit() + load + int_(0) + int_(0) + NO_FIELDS + b"".join(ends))
                reported_at = time.monotonic()

    def receive(self, frame_type, body):
        if frame_type == WELCOME:
            _protocol, self.features = body.offer()
            _tag, heartbeat_ms = body.text(), body.int()
            self.heartbeat = heartbeat_ms / 1000
        elif frame_type == REFUSED:
            body.byte()
            raise RuntimeError(f"session refused: {body.text()}")
        elif frame_type == ASSIGN:
            self.assigned(body)
        elif frame_type == ACKNOWLEDGED:
            while body.more():
                job, attempt, count = body.int(), body.int(), body.int()
                for number in range(job, job + count):
                    self.unacknowledged.pop((number, attempt), None)
        elif frame_type == STALE:
            while body.more():
                self.unacknowledged.pop((body.int(), body.int()), None)
        elif frame_type == ABORT:
            while body.more():
                job, attempt, _reason, detail = body.int(), body.int(), body.byte(), body.text()
                print(f"abort: {job} {detail}", flush=True)
                if (job, attempt) in self.running:
                    self.running[job, attempt].set()

    def assigned(self, body):
        exec_name = ""
        while body.more():
            flags, job, attempt = body.byte(), body.int(), body.int()
            if not flags & 1:  # else as in the item before
                exec_name, _client, _run_ms, _output_bytes = body.text(), body.text(), body.int(), body.int()
            traceparent = body.fields(flags).get(TRACEPARENT, b"").decode("ascii")
            if traceparent:
                print(f"trace: {job} {traceparent}", flush=True)
            payload = body.bytes()
            aborted = self.running[job, attempt] = threading.Event()
            run = (exec_name, job, attempt, payload, aborted)
            threading.Thread(target=self.run, args=run, daemon=True).start()

    def run(self, exec_name, job, attempt, payload, aborted):
        try:
            result = json.dumps(HANDLERS[exec_name](json.loads(payload), attempt, aborted)).encode("utf-8")
            word, flag, value = OK, 1, bytes_(result)
        except Exception as error:
            word, flag, value = FAILED, 2, failure(error)
        end = bytes([word, flag]) + int_(job) + int_(attempt) + value
        self.ended.put((job, attempt, end, len(payload)))

    def take_ends(self):
        ends = []
        while not self.ended.empty():
            job, attempt, end, payload_bytes = self.ended.get()
            del self.running[job, attempt]
            # Kept until it is acknowledged: after a cut, a worker that connects again reports it again.
            self.unacknowledged[job, attempt] = end
            self.granted += 1
            self.granted_bytes += payload_bytes
            ends.append(end)
        return ends


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    worker = Worker(sys.argv[1], int(sys.argv[2]), parse_key(sys.argv[3]))
    try:
        worker.work()
    except EOFError:
        pass


if __name__ == "__main__":
    main()
