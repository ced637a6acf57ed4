#!/usr/bin/env python3
"""A client in the full dialect (docs/wire-protocol.md §11.1): standard library only.

    python3 full-client.py HOST PORT KEY run EXEC JSON [IDEMPOTENCY-KEY]    prints job and result
    python3 full-client.py HOST PORT KEY cancel EXEC JSON                   cancels it once it runs

KEY is id:hex, or - at a leader without keys. TRACEPARENT in the environment is the W3C trace context of the job.
"""
import json
import os
import sys
import time

from full_dialect import (
    FIELDS, HELLO_CLIENT, NO_FIELDS, OFFER, TRACEPARENT, Connection, bytes_, fields, int_, parse_key, text)

SUBMIT, OUTCOMES, CLIENT_HELLO, WELCOME, REFUSED, DEFINE, CALL, ANSWER, RECEIPTS, CLOSE = (
    1, 5, 64, 66, 67, 68, 71, 72, 73, 81)
STATES = ["done", "dead", "cancelled", "unknown"]


class Client:
    def __init__(self, host, port, key, name="python"):
        self.connection = Connection(host, port, HELLO_CLIENT, name, key)
        self.refs, self.receipts, self.outcomes, self.answers = {}, {}, {}, {}
        self.seq = self.calls = 0
        token = os.urandom(8).hex()
        self.connection.write(CLIENT_HELLO, OFFER + text(name) + text(token) + NO_FIELDS)
        self.tag = None
        while self.tag is None:
            self.receive()

    def submit(self, policy, value, key="", traceparent=""):
        """The number of the job, once it is on the leader's disk."""
        exec_name = policy["exec"]
        if exec_name not in self.refs:
            self.refs[exec_name] = len(self.refs) + 1
            self.connection.write(DEFINE, int_(self.refs[exec_name]) + text(json.dumps(policy)))
        self.seq += 1
        flags = 1 | (2 if key else 0) | (FIELDS if traceparent else 0)  # the outcome is wanted
        item = int_(self.refs[exec_name]) + bytes([flags]) + (text(key) if key else b"")
        if traceparent:
            item += fields({TRACEPARENT: traceparent.encode("ascii")})
        payload = json.dumps(value).encode("utf-8")
        # Receipts are awaited one by one here, so every earlier one has arrived.
        self.connection.write(SUBMIT, int_(self.seq - 1) + int_(self.seq) + item + bytes_(payload))
        while self.seq not in self.receipts:
            self.receive()
        jobs, refusal = self.receipts.pop(self.seq)
        if refusal:
            raise RuntimeError(f"{refusal[0]}: {refusal[1]}")
        return jobs[0]

    def result(self, job):
        """State and value: the result of a job that is done, else the reason."""
        while job not in self.outcomes:
            self.receive()
        return self.outcomes[job]

    def call(self, request):
        self.calls += 1
        self.connection.write(CALL, int_(self.calls) + text(json.dumps(request)))
        while self.calls not in self.answers:
            self.receive()
        return self.answers.pop(self.calls)

    def close(self):
        self.connection.write(CLOSE)
        self.connection.sock.close()

    def receive(self):
        frame_type, body = self.connection.read()
        if frame_type == WELCOME:
            _protocol, self.features = body.offer()
            self.tag = body.text()
        elif frame_type == REFUSED:
            body.byte()
            raise RuntimeError(f"session refused: {body.text()}")
        elif frame_type == RECEIPTS:
            while body.more():
                self.read_receipt(body)
        elif frame_type == OUTCOMES:
            while body.more():
                self.read_outcome(body)
        elif frame_type == ANSWER:
            call = body.int()
            self.answers[call] = json.loads(body.text())

    def read_receipt(self, body):
        seq, flags, _lsn = body.int(), body.byte(), body.int()
        jobs = [body.int() for _ in range(body.int())]
        refusal = (body.text(), body.text(), body.int()) if flags & 2 else None
        body.fields(flags)
        self.receipts[seq] = jobs, refusal

    def read_outcome(self, body):
        job, state, flags = body.int(), body.byte(), body.byte()
        value = json.loads(body.bytes()) if flags & 1 else None
        reason = body.text() if flags & 2 else ""
        failure = body.failure() if flags & 4 else ""
        body.fields(flags)
        # A state of a later version is an end without a result.
        name = STATES[state] if state < len(STATES) else "dead"
        self.outcomes[job] = name, value if name == "done" else failure or reason


def main():
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    host, port, key, action, exec_name, value = sys.argv[1:7]
    client = Client(host, int(port), parse_key(key))
    policy = {"exec": exec_name, "retry": {"attempts": 3, "baseMs": 10, "capMs": 10}}
    idempotency_key = sys.argv[7] if len(sys.argv) > 7 else ""
    job = client.submit(policy, json.loads(value), idempotency_key, os.environ.get("TRACEPARENT", ""))
    if action == "cancel":
        while client.call({"kind": "inspect", "job": job})["view"]["state"] != "running":
            time.sleep(0.01)
        client.call({"kind": "cancel", "job": job, "reason": "not needed"})
    print(job, *client.result(job), flush=True)
    client.close()


if __name__ == "__main__":
    main()
