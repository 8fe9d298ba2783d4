import base64
import hashlib
import hmac
import os
import time


# body: the raw bytes, before any JSON parser.
def verify_webhook(headers, body, secret=os.environ.get("WEBHOOK_SECRET", "")):
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("The timestamp is too old or too new")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    given = headers["webhook-signature"].encode().split(b" ")
    if not any(hmac.compare_digest(one, expected) for one in given):
        raise ValueError("The signature does not match")
