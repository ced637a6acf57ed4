#!/usr/bin/env python3
"""A worker in the minimal dialect (docs/wire-protocol.md §2): standard library only.

    python3 minimal-worker.py HOST PORT [JOBS]

Takes one job at a time, prints its payload, acknowledges it. Ends after JOBS jobs, or when the leader closes.
"""
import socket
import struct
import sys

ASSIGN_JOB, ACK_JOB, CREDIT, HELLO_WORKER = 2, 3, 4, 10


def write_frame(sock, frame_type, payload=b""):
    sock.sendall(struct.pack("<IBI", 5 + len(payload), frame_type, len(payload)) + payload)


def read_exactly(sock, count):
    parts = []
    while count > 0:
        part = sock.recv(min(count, 65536))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_frame(sock):
    head = read_exactly(sock, 9)
    if head is None:
        return None
    length, frame_type, payload_len = struct.unpack("<IBI", head)
    if length != 5 + payload_len:
        raise ValueError("frame lengths disagree")
    payload = read_exactly(sock, payload_len)
    if payload is None:
        raise ValueError("the stream ended inside a frame")
    return frame_type, payload


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    host, port = sys.argv[1], int(sys.argv[2])
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else None
    with socket.create_connection((host, port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        write_frame(sock, HELLO_WORKER)
        done = 0
        while jobs is None or done < jobs:
            write_frame(sock, CREDIT, struct.pack("<i", 1))
            frame = read_frame(sock)
            if frame is None:
                break
            frame_type, payload = frame
            if frame_type != ASSIGN_JOB:
                continue
            print("job:", payload.decode("utf-8", "replace"), flush=True)
            write_frame(sock, ACK_JOB)
            done += 1


if __name__ == "__main__":
    main()
