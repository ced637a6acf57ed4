"""A client in the full dialect, written from docs/wire-protocol.md alone. python3 full-client.py PORT KEY_ID KEY_HEX BODY_BYTES"""
import hashlib
import hmac
import os
import socket
import struct
import sys

HELLO_CLIENT, CHALLENGE, AUTH, WELCOME, PING, PONG = 9, 33, 34, 35, 37, 38
BODY_CHUNK, BODY_CREDIT, ECHO, BODY = 40, 41, 64, 65


def write_frame(sock, frame_type, payload):
    sock.sendall(struct.pack("<IBI", 5 + len(payload), frame_type, len(payload)) + payload)


def read_exactly(sock, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def read_frame(sock):
    length, frame_type, payload_len = struct.unpack("<IBI", read_exactly(sock, 9))
    assert length == 5 + payload_len
    return frame_type, read_exactly(sock, payload_len)


def expect(sock, wanted):
    while True:
        frame_type, payload = read_frame(sock)
        if frame_type == PING:
            write_frame(sock, PONG, payload)
        elif frame_type == wanted:
            return payload
        else:
            raise ValueError(f"frame {frame_type} instead of {wanted}: {payload!r}")


def handshake(sock, key_id, key):
    hello = b"TRP1" + bytes([1, 1, 2, 0]) + os.urandom(32) + struct.pack("<IIII", 1 << 20, 1 << 23, 1 << 20, 1 << 16) + bytes([2]) + b"py"
    write_frame(sock, HELLO_CLIENT, hello)
    challenge = expect(sock, CHALLENGE)
    auth = bytes([1, len(key_id)]) + key_id
    transcript = bytes([HELLO_CLIENT]) + hello + challenge + auth
    proof = hmac.new(key, b"troupe-c1" + transcript, hashlib.sha256).digest()
    write_frame(sock, AUTH, auth + proof)
    welcome = expect(sock, WELCOME)
    proof_s = hmac.new(key, b"troupe-s1" + transcript + proof + welcome[:-32], hashlib.sha256).digest()
    assert hmac.compare_digest(proof_s, welcome[-32:]), "the listener did not prove the key"
    window, chunk_max = struct.unpack_from("<II", welcome, 26)
    return welcome[51 : 51 + welcome[50]].decode(), window, chunk_max


def message(msg_id, streamed=b""):
    header = bytes([1, 0]) + struct.pack("<H", 1 | (32 if streamed else 0))
    header += bytes([len(msg_id)]) + msg_id + streamed
    return struct.pack("<H", len(header)) + header


def corr_id(payload):
    flags = struct.unpack_from("<H", payload, 4)[0]
    assert flags & 2 and not flags & 1
    return payload[7 : 7 + payload[6]]


def main():
    port, key_id, key, size = int(sys.argv[1]), sys.argv[2].encode(), bytes.fromhex(sys.argv[3]), int(sys.argv[4])
    with socket.create_connection(("127.0.0.1", port)) as sock:
        identity, credit, chunk_max = handshake(sock, key_id, key)
        write_frame(sock, ECHO, message(b"m1") + b"hello")
        answer = expect(sock, ECHO)
        assert corr_id(answer) == b"m1"
        text = answer[2 + struct.unpack_from("<H", answer)[0] :].decode()
        write_frame(sock, BODY, message(b"m2", struct.pack("<IQ", 1, size)))
        sent = 0
        while sent < size:
            while credit == 0:
                credit += struct.unpack("<I", expect(sock, BODY_CREDIT)[4:])[0]
            count = min(credit, chunk_max, size - sent)
            last = sent + count == size
            write_frame(sock, BODY_CHUNK, struct.pack("<IB", 1, 1 if last else 0) + bytes(count))
            sent += count
            credit -= count
        while True:
            frame_type, payload = read_frame(sock)
            if frame_type == BODY:
                break
        assert corr_id(payload) == b"m2"
        print(identity, text, payload[2 + struct.unpack_from("<H", payload)[0] :].decode())


if __name__ == "__main__":
    main()
