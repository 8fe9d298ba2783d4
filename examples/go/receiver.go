// Receives callbacks with nothing but Go's standard library, signed with a secret (whsec_…) or with a
// key pair (whpk_…). It must never act on a request before its signature was verified.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

const (
	tolerance     = 5 * time.Minute
	bodyBytesMax  = 1 << 20
	signaturesMax = 8
	requestMax    = 10 * time.Second
)

// Only ASCII, and no dot in the id: a dot ends it in what is signed, and with another one the same bytes
// could be read as another id and another body.
var (
	idShape        = regexp.MustCompile(`^[!-\-/-~]{1,256}$`)
	timestampShape = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// A verifier says whether one signature, with its version before the comma, is over these bytes.
type verifier func(signature string, signed []byte) bool

// readSecret makes a verifier of what the subscription is verified with: whsec_… or whpk_….
func readSecret(text string) (verifier, error) {
	kind, encoded, _ := strings.Cut(text, "_")
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	switch {
	case kind != "whsec" && kind != "whpk":
		return nil, errors.New("expected it to start with whsec_ or whpk_")
	case err != nil || len(key) == 0:
		return nil, fmt.Errorf("expected base64 behind %s_", kind)
	case kind == "whsec":
		return sharedSecret(key), nil
	case len(key) != ed25519.PublicKeySize:
		return nil, fmt.Errorf("a public key has %d bytes, not %d", ed25519.PublicKeySize, len(key))
	default:
		return publicKey(key), nil
	}
}

func sharedSecret(key []byte) verifier {
	return func(signature string, signed []byte) bool {
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		return hmac.Equal([]byte(expected), []byte(signature))
	}
}

func publicKey(key ed25519.PublicKey) verifier {
	return func(signature string, signed []byte) bool {
		encoded, isVersion := strings.CutPrefix(signature, "v1a,")
		raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
		return isVersion && err == nil && len(raw) == ed25519.SignatureSize &&
			ed25519.Verify(key, signed, raw)
	}
}

// only is the one header of that name: what came twice was not sent by Ringback.
func only(headers http.Header, name string) (string, error) {
	values := headers.Values(name)
	if len(values) != 1 {
		return "", fmt.Errorf("%s is there %d times, expected once", name, len(values))
	}
	return values[0], nil
}

// verify gives the webhook-id, or why the request is a forgery.
func verify(headers http.Header, body []byte, verifiers []verifier, now time.Time) (string, error) {
	id, idErr := only(headers, "webhook-id")
	timestamp, timestampErr := only(headers, "webhook-timestamp")
	signatures, signaturesErr := only(headers, "webhook-signature")
	if err := errors.Join(idErr, timestampErr, signaturesErr); err != nil {
		return "", err
	}
	if !idShape.MatchString(id) {
		return "", errors.New("webhook-id is none")
	}
	if !timestampShape.MatchString(timestamp) {
		return "", errors.New("webhook-timestamp is no number of seconds")
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return "", errors.New("webhook-timestamp is too old, or in the future")
	}
	// One for each secret that is valid at this moment: while a secret is rotated there are two.
	given := strings.Split(signatures, " ")
	if len(given) > signaturesMax {
		return "", errors.New("too many signatures")
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	for _, isSigned := range verifiers {
		for _, signature := range given {
			if isSigned(signature, signed) {
				return id, nil
			}
		}
	}
	return "", errors.New("no signature is by our secret")
}

// handle is your work. The same id comes again when our answer was lost: remember the ids that are done,
// in the transaction that does the work (../shop does so), and let work that takes long follow the answer.
func handle(id string, body []byte) error {
	var payload any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // Else 12345678901234567890 is a float64, and another number.
	if err := decoder.Decode(&payload); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is more behind the JSON")
	}
	line, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	fmt.Printf("%s %s\n", id, ascii(line))
	return nil
}

// ascii is the same JSON without what a terminal would obey: JSON has other characters in strings only.
func ascii(text []byte) string {
	var line strings.Builder
	for _, unit := range utf16.Encode([]rune(string(text))) {
		if unit < 0x7f {
			line.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&line, `\u%04x`, unit)
		}
	}
	return line.String()
}

func receive(verifiers []verifier) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			response.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if request.ContentLength > bodyBytesMax {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			response.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		} else if err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		id, err := verify(request.Header, body, verifiers, time.Now())
		if err != nil {
			// For our own log. The sender learns nothing but the status.
			log.Printf("Refused: %v", err)
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		if err := handle(id, body); err != nil {
			// Ringback sends it again later.
			log.Printf("Cannot handle %s: %v", id, err)
			response.WriteHeader(http.StatusInternalServerError)
			return
		}
		response.WriteHeader(http.StatusOK)
	}
}

func main() {
	var verifiers []verifier
	for _, secret := range strings.Fields(os.Getenv("RINGBACK_SECRET")) {
		one, err := readSecret(secret)
		if err != nil {
			log.Fatalf("Cannot use RINGBACK_SECRET: %v", err)
		}
		verifiers = append(verifiers, one)
	}
	if len(verifiers) == 0 {
		log.Fatal("Cannot verify callbacks: set RINGBACK_SECRET to the secret of the subscription " +
			"(whsec_… or whpk_…)")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8081"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Handler:        receive(verifiers),
		ReadTimeout:    requestMax,
		WriteTimeout:   requestMax,
		MaxHeaderBytes: 1 << 14,
	}
	fmt.Printf("Listening on http://%s/\n", listener.Addr())
	log.Fatal(server.Serve(listener))
}
