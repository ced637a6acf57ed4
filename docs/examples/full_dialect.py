"""The full dialect of docs/wire-protocol.md: frames, handshake with a key, values. Standard library only."""
import hashlib
import hmac
import os
import select
import socket
import struct

HELLO_CLIENT, HELLO_WORKER, CHALLENGE, AUTH, WELCOME, ERROR, PING, PONG = 9, 10, 33, 34, 35, 36, 37, 38
FIELDS = 128  # the bit of any flags byte behind which optional fields follow


def int_(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def bytes_(value):
    return int_(len(value)) + value


def text(value):
    return bytes_(value.encode("utf-8"))


def texts(values):
    return int_(len(values)) + b"".join(text(value) for value in values)


def fields(values):
    """Optional fields, by number."""
    return bytes_(b"".join(int_(number) + bytes_(value) for number, value in values.items()))


def offer(*features):
    return int_(1) + texts(features)  # job protocol 1


NO_FIELDS = fields({})
TRACEPARENT = 1  # the field of a submit and an assignment


def failure(error):
    return b"\0" + text(type(error).__name__) + text(str(error))


class Reader:
    """The values of one body, in their order."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def more(self):
        return self.at < len(self.body)

    def take(self, count):
        if self.at + count > len(self.body):
            raise ValueError("the message ends too early")
        self.at += count
        return self.body[self.at - count:self.at]

    def byte(self):
        return self.take(1)[0]

    def int(self):
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def bytes(self):
        return self.take(self.int())

    def text(self):
        return self.bytes().decode("utf-8")

    def texts(self):
        return [self.text() for _ in range(self.int())]

    def offer(self):
        return self.int(), set(self.texts())

    def fields(self, flags=FIELDS):
        """Optional fields by number. Those of a later version are among them, without a reader."""
        values, found = Reader(self.bytes() if flags & FIELDS else b""), {}
        while values.more():
            number = values.int()
            found[number] = values.bytes()
        return found

    def failure(self):
        flags = self.byte()
        name, message = self.text(), self.text()
        for bit in (1, 2):  # code, stack
            if flags & bit:
                self.text()
        if flags & 4:  # cause
            self.failure()
        self.fields(flags)
        return f"{name}: {message}"


class Connection:
    """One connection after its handshake. `key` is (key id, 32 bytes), or None on a listener without keys."""

    def __init__(self, host, port, role, name, key=None):
        self.sock = socket.create_connection((host, port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.written = bytearray(), 0
        self.shake_hands(role, name.encode("ascii"), key)

    def shake_hands(self, role, name, key):
        method = 2 if key else 1  # hmac or none
        limits = struct.pack("<IIII", 1 << 20, 1 << 23, 1 << 20, 1 << 16)
        hello = b"TRP1" + bytes([1, 1, method, 0]) + os.urandom(32) + limits + bytes([len(name)]) + name
        self.write_frame(role, hello)
        transcript = bytes([role]) + hello
        if key:
            key_id, secret = key[0].encode("ascii"), key[1]
            challenge = self.expect(CHALLENGE)
            auth = bytes([1, len(key_id)]) + key_id
            transcript += challenge + auth
            proof = hmac.new(secret, b"troupe-c1" + transcript, hashlib.sha256).digest()
            self.write_frame(AUTH, auth + proof)
        welcome = self.expect(WELCOME)
        if key:
            proved = hmac.new(secret, b"troupe-s1" + transcript + proof + welcome[:-32], hashlib.sha256).digest()
            if welcome[1] != 1 or not hmac.compare_digest(proved, welcome[-32:]):
                raise ValueError("the listener does not know the key")

    def expect(self, frame_type):
        found, payload = self.read_frame(None)
        if found != frame_type:
            raise ValueError(f"frame {found} in place of {frame_type}")
        return payload

    def write_frame(self, frame_type, payload):
        self.sock.sendall(struct.pack("<IBI", 5 + len(payload), frame_type, len(payload)) + payload)

    def write(self, frame_type, body=b""):
        """A message with an id of its own, which the leader names in an error about it."""
        self.written += 1
        msg_id = f"{frame_type}/{self.written}".encode("ascii")
        header = struct.pack("<BBHB", 1, 0, 1, len(msg_id)) + msg_id  # version, compression, flags: msgId
        self.write_frame(frame_type, struct.pack("<H", len(header)) + header + body)

    def read(self, timeout=None):
        """The next message as (type, Reader); None after `timeout` seconds without one."""
        while True:
            frame = self.read_frame(timeout)
            if frame is None:
                return None
            frame_type, payload = frame
            if frame_type == PING:
                self.write_frame(PONG, payload)
            elif frame_type < 6 or frame_type > 63:
                header = struct.unpack_from("<H", payload)[0]
                return frame_type, Reader(payload[2 + header:])

    def read_frame(self, timeout):
        while not self.has_frame():
            if timeout is not None and not select.select([self.sock], [], [], timeout)[0]:
                return None
            part = self.sock.recv(65536)
            if not part:
                raise EOFError("the leader closed the connection")
            self.buffer += part
        length, frame_type, payload_len = struct.unpack_from("<IBI", self.buffer)
        if length != 5 + payload_len:
            raise ValueError("frame lengths disagree")
        payload = bytes(self.buffer[9:9 + payload_len])
        del self.buffer[:9 + payload_len]
        if frame_type == ERROR:
            code, msg_id = struct.unpack_from("<H", payload)[0], payload[8:8 + payload[7]].decode("ascii")
            raise ValueError(f"error {code} of the leader about message {msg_id or 'none'}")
        return frame_type, payload

    def has_frame(self):
        return len(self.buffer) >= 9 and len(self.buffer) >= 4 + struct.unpack_from("<I", self.buffer)[0]


def parse_key(argument):
    """`id:hex` as a pair; `-` for none."""
    if argument == "-":
        return None
    key_id, secret = argument.split(":")
    return key_id, bytes.fromhex(secret)
