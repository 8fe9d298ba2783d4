package webhooks

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Verify checks a request: Verify(request.Header.Get, body, os.Getenv("WEBHOOK_SECRET")).
// The body is the raw bytes, before any JSON parser.
func Verify(header func(name string) string, body []byte, publicKey string) error {
	id, timestamp := header("webhook-id"), header("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the timestamp is too old or too new")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return errors.New("the public key is not valid")
	}
	signed := fmt.Appendf(nil, "%s.%s.%s", id, timestamp, body)
	for _, given := range strings.Split(header("webhook-signature"), " ") {
		text, isPair := strings.CutPrefix(given, "v1a,")
		signature, err := base64.StdEncoding.DecodeString(text)
		if isPair && err == nil && ed25519.Verify(key, signed, signature) {
			return nil
		}
	}
	return errors.New("the signature does not match")
}
