import base64
import os
import time

from cryptography.exceptions import InvalidSignature  # pip install cryptography
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


# body: the raw bytes, before any JSON parser.
def verify_webhook(headers, body, public_key=os.environ.get("WEBHOOK_SECRET", "")):
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("The timestamp is too old or too new")
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    signed = f"{message_id}.{timestamp}.".encode() + body
    for given in headers["webhook-signature"].split(" "):
        version, _, signature = given.partition(",")
        try:
            if version == "v1a":
                key.verify(base64.b64decode(signature), signed)
                return
        except InvalidSignature:
            pass
    raise ValueError("The signature does not match")
