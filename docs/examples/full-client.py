#!/usr/bin/env python3
"""A client in the full dialect (docs/wire-protocol.md §11.1): standard library only.

    python3 full-client.py HOST PORT KEY run EXEC JSON [IDEMPOTENCY-KEY]    prints job and result
    python3 full-client.py HOST PORT KEY cancel EXEC JSON                   cancels it once it runs
    python3 full-client.py HOST PORT KEY stream EXEC JSON                   prints its chunks, then as run
    python3 full-client.py HOST PORT KEY feed EXEC JSON ITEM-JSON...        feeds it, then as stream

KEY is id:hex, or - at a leader without keys. TRACEPARENT in the environment is the W3C trace context of the job.
"""
import json
import os
import sys
import time

from full_dialect import (
    FIELDS, HELLO_CLIENT, NO_FIELDS, TRACEPARENT, Connection, bytes_, fields, int_, offer, parse_key, text)

SUBMIT, OUTCOMES, CLIENT_HELLO, WELCOME, REFUSED, DEFINE, CALL, ANSWER, RECEIPTS, CLOSE = (
    1, 5, 64, 66, 67, 68, 71, 72, 73, 81)
READ_STREAM, STREAM_CONSUMED, STREAM_ITEMS, OPEN_FEED, FEED, FEED_STATES = 85, 86, 88, 96, 97, 99
DATA, RESET, GAP, END, FIRST_LATER_KIND = 0, 1, 2, 3, 16
STATES = ["done", "dead", "cancelled", "unknown"]


class Client:
    def __init__(self, host, port, key, name="python"):
        self.connection = Connection(host, port, HELLO_CLIENT, name, key)
        self.refs, self.receipts, self.outcomes, self.answers = {}, {}, {}, {}
        self.items, self.feed_states = {}, {}
        self.seq = self.calls = self.readers = self.feeds = 0
        token = os.urandom(8).hex()
        self.connection.write(CLIENT_HELLO, offer("streams", "feeds") + text(name) + text(token) + NO_FIELDS)
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

    def stream(self, job, window=1 << 20):
        """The items of a job that streams, up to its end."""
        self.readers += 1
        reader, items = self.readers, self.items.setdefault(self.readers, [])
        where = int_(0) + int_(0)  # whichever attempt runs, from its first chunk
        self.connection.write(READ_STREAM, int_(reader) + int_(job) + where + int_(window) + NO_FIELDS)
        while True:
            while not items:
                self.receive()
            kind, attempt, offset, value = items.pop(0)
            yield kind, attempt, offset, value
            if kind > GAP:
                return
            if kind == DATA:  # the window moves
                self.connection.write(STREAM_CONSUMED, b"\0" + int_(reader) + int_(attempt) + int_(offset + 1))

    def feed(self, job, values):
        """Feeds the values and ends the feed. Each is on the leader's disk before the next is sent."""
        self.feeds += 1
        name = int_(self.feeds) + int_(job)
        self.connection.write(OPEN_FEED, b"\0" + name)
        number = self.feed_state(self.feeds, 0)
        for value in values:
            payload = bytes_(json.dumps(value).encode("utf-8"))
            self.connection.write(FEED, b"\0" + name + int_(number) + int_(1) + payload)
            number = self.feed_state(self.feeds, number + 1)
        self.connection.write(FEED, b"\1" + name + int_(number) + int_(0))
        self.feed_state(self.feeds, number + 1)

    def feed_state(self, feed, accepted):
        """Waits until so many items are accepted. Returns their number."""
        while self.feed_states.get(feed, (-1, None))[0] < accepted:
            self.receive()
            refusal = self.feed_states.get(feed, (-1, None))[1]
            if refusal:
                raise RuntimeError(f"{refusal[0]}: {refusal[1]}")
        return self.feed_states[feed][0]

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
                job, outcome = self.read_outcome(body)
                self.outcomes[job] = outcome
        elif frame_type == STREAM_ITEMS:
            items = self.items[body.int()]
            body.fields()
            while body.more():
                items += self.read_items(body)
        elif frame_type == FEED_STATES:
            while body.more():
                self.read_feed_state(body)
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
        return job, (name, value if name == "done" else failure or reason)

    def read_items(self, body):
        """(kind, attempt, offset, value) of each chunk; of a reset, a gap, the end or a refusal just one."""
        kind, flags = body.byte(), body.byte()
        if kind >= FIRST_LATER_KIND:
            body.bytes()
            return []
        if kind == DATA:
            attempt, first = body.int(), body.int()
            body.fields(flags)
            return [(kind, attempt, first + i, json.loads(body.bytes())) for i in range(body.int())]
        attempt = offset = 0
        if kind == RESET:
            attempt, value = body.int(), None
        elif kind == GAP:
            attempt, offset, value = body.int(), body.int(), body.int() - 1
        elif kind == END:
            body.byte()  # the mode
            value = self.read_outcome(body)  # without the result
        else:
            body.byte()  # the status
            value = "refused", body.text()
        body.fields(flags)
        return [(kind, attempt, offset, value)]

    def read_feed_state(self, body):
        flags, _phase, feed, accepted = body.byte(), body.byte(), body.int(), body.int()
        _taken, _window = body.int(), body.int()
        refusal = (body.text(), body.text(), body.int()) if flags & 2 else None
        body.fields(flags)
        self.feed_states[feed] = accepted, refusal


def main():
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    host, port, key, action, exec_name, value = sys.argv[1:7]
    client = Client(host, int(port), parse_key(key))
    policy = {"exec": exec_name, "retry": {"attempts": 3, "baseMs": 10, "capMs": 10}}
    if action in ("stream", "feed"):
        policy["streaming"] = "response"
    if action == "feed":
        policy["limits"] = {"feedBytesMax": 1 << 20}
    idempotency_key = sys.argv[7] if action == "run" and len(sys.argv) > 7 else ""
    job = client.submit(policy, json.loads(value), idempotency_key, os.environ.get("TRACEPARENT", ""))
    if action == "cancel":
        while client.call({"kind": "inspect", "job": job})["view"]["state"] != "running":
            time.sleep(0.01)
        client.call({"kind": "cancel", "job": job, "reason": "not needed"})
    if action == "feed":
        client.feed(job, [json.loads(item) for item in sys.argv[7:]])
    if action in ("stream", "feed"):
        for kind, attempt, offset, value in client.stream(job):
            if kind == DATA:
                print(f"{attempt}.{offset} {value}", flush=True)
    print(job, *client.result(job), flush=True)
    client.close()


if __name__ == "__main__":
    main()
