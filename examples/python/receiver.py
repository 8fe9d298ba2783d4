"""Receives callbacks with nothing but Python's standard library (3.9 or newer).

It must never act on a request, nor parse its body, before the signature was verified.
"""

import base64
import binascii
import hashlib
import hmac
import io
import json
import os
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_S = 5 * 60
BODY_BYTES_MAX = 1024 * 1024
SIGNATURES_MAX = 8
REQUEST_S_MAX = 10
THREADS_MAX = 64

# Only ASCII, and no dot in the id: a dot ends it in what is signed, and with another one the same bytes
# could be read as another id and another body.
ID = re.compile(rb"[!-\-/-~]{1,256}")
TIMESTAMP = re.compile(rb"[0-9]{1,12}")
LENGTH = re.compile(r"[0-9]{1,10}", re.ASCII)


class Forgery(Exception):
    """For our own log. The sender learns nothing but the status 401."""


def read_secret(text):
    """The key in a secret `whsec_…`."""
    if text.startswith("whpk_"):
        raise ValueError(
            "a public key (whpk_…) needs Ed25519, which Python's standard library does not have: "
            'subscribe with "signing": "hmac", or see ../go and ringback/receiver'
        )
    if not text.startswith("whsec_"):
        raise ValueError('expected it to start with "whsec_"')
    try:
        key = base64.b64decode(text[len("whsec_") :], validate=True)
    except binascii.Error as error:
        raise ValueError("expected base64 behind whsec_") from error
    if not key:
        raise ValueError("expected a key behind whsec_")
    return key


def only(headers, name):
    """The one header of that name: what came twice was not sent by Ringback."""
    values = headers.get_all(name, [])
    if len(values) != 1:
        raise Forgery(f"{name} is there {len(values)} times, expected once")
    return values[0].encode("latin-1")


def verify(headers, body, keys, now_s):
    """The webhook-id, or Forgery."""
    webhook_id, timestamp = only(headers, "webhook-id"), only(headers, "webhook-timestamp")
    if not ID.fullmatch(webhook_id):
        raise Forgery("webhook-id is none")
    if not TIMESTAMP.fullmatch(timestamp):
        raise Forgery("webhook-timestamp is no number of seconds")
    if abs(now_s - int(timestamp)) > TOLERANCE_S:
        raise Forgery("webhook-timestamp is too old, or in the future")
    # One for each secret that is valid at this moment: while a secret is rotated there are two.
    given = only(headers, "webhook-signature").split(b" ")
    if len(given) > SIGNATURES_MAX:
        raise Forgery("too many signatures")
    signed = webhook_id + b"." + timestamp + b"." + body
    for key in keys:
        mac = hmac.new(key, signed, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(mac)
        if any([hmac.compare_digest(expected, one) for one in given]):
            return webhook_id.decode("ascii")
    raise Forgery("no signature is by our secret")


def handle(webhook_id, payload):
    """Your work. The same id comes again when our answer was lost: remember the ids that are done, in
    the transaction that does the work (../shop does so), and let work that takes long follow the answer."""
    print(f"{webhook_id} {json.dumps(payload)}", flush=True)


class Deadline(io.RawIOBase):
    """Reads from a connection until the time is up. A limit for each piece would not do: a sender that
    drips a byte a second would hold its thread for ever."""

    def __init__(self, connection):
        self.connection = connection
        self.until_s = time.monotonic() + REQUEST_S_MAX

    def readable(self):
        return True

    def readinto(self, buffer):
        left_s = self.until_s - time.monotonic()
        if left_s <= 0:
            raise socket.timeout("the request took too long")
        self.connection.settimeout(left_s)
        return self.connection.recv_into(buffer)


class Receiver(BaseHTTPRequestHandler):
    keys = []

    def setup(self):
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(Deadline(self.connection))

    def do_POST(self):
        length = self.headers.get_all("content-length", [])
        if len(length) != 1 or not LENGTH.fullmatch(length[0]) or "transfer-encoding" in self.headers:
            return self.answer(411)  # Ringback always says how long the body is.
        if int(length[0]) > BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(int(length[0]))
        try:
            webhook_id = verify(self.headers, body, self.keys, time.time())
        except Forgery as forgery:
            print(f"Refused: {forgery}", file=sys.stderr, flush=True)
            return self.answer(401)
        try:
            handle(webhook_id, json.loads(body))
        except Exception as error:
            # Ringback sends it again later.
            print(f"Cannot handle {webhook_id}: {error}", file=sys.stderr, flush=True)
            return self.answer(500)
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_request(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """With a limit on its threads: who comes when all are busy waits."""

    def __init__(self, *args):
        super().__init__(*args)
        self.free = threading.Semaphore(THREADS_MAX)

    def process_request(self, *args):
        self.free.acquire()
        try:
            super().process_request(*args)
        except BaseException:
            self.free.release()
            raise

    def process_request_thread(self, *args):
        try:
            super().process_request_thread(*args)
        finally:
            self.free.release()


def main():
    try:
        Receiver.keys = [read_secret(one) for one in os.environ.get("RINGBACK_SECRET", "").split()]
    except ValueError as error:
        sys.exit(f"Cannot use RINGBACK_SECRET: {error}")
    if not Receiver.keys:
        sys.exit("Cannot verify callbacks: set RINGBACK_SECRET to the secret of the subscription (whsec_…)")
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "8081"))), Receiver)
    print(f"Listening on http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
