#!/usr/bin/env python3
"""A client in the minimal dialect (docs/wire-protocol.md §2): standard library only.

    python3 minimal-client.py HOST PORT PAYLOAD...

Submits each PAYLOAD as one job. The minimal dialect has no receipts: when this program ends, the
leader has read all jobs.
"""
import socket
import struct
import sys

SUBMIT_JOB, HELLO_CLIENT = 1, 9


def write_frame(sock, frame_type, payload=b""):
    sock.sendall(struct.pack("<IBI", 5 + len(payload), frame_type, len(payload)) + payload)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    host, port = sys.argv[1], int(sys.argv[2])
    with socket.create_connection((host, port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        write_frame(sock, HELLO_CLIENT)
        for text in sys.argv[3:]:
            write_frame(sock, SUBMIT_JOB, text.encode("utf-8"))
        # Close the sending side, then wait until the leader has read everything and closes.
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(4096):
            pass
    print(f"submitted {len(sys.argv) - 3} jobs")


if __name__ == "__main__":
    main()
