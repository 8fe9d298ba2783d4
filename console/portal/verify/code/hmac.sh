# Sends a signed request to your endpoint.
url='https://example.com/webhooks'
body='{"test":true}'
id=msg_test
timestamp=$(date +%s)
key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
signature=$(printf %s "$id.$timestamp.$body" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
curl -i "$url" \
  -H 'content-type: application/json' \
  -H "webhook-id: $id" \
  -H "webhook-timestamp: $timestamp" \
  -H "webhook-signature: v1,$signature" \
  --data-raw "$body"
