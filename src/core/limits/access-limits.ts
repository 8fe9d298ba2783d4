// The limits of keys, secrets and sessions. Read them as part of `limits`.

export const accessLimits = {
  /** Key cache: how long another node may still accept a revoked key. */
  keyCacheMs: 1_000,
  keyCacheEntriesMax: 10_000,
  /**
   * The console: lifetime of a session after its last use, how often that use is written, its
   * lifetime in all; and lifetime of a one-time link.
   */
  sessionMs: 12 * 60 * 60 * 1000,
  sessionProlongMs: 10 * 60 * 1000,
  sessionLongestMs: 30 * 24 * 60 * 60 * 1000,
  ticketMs: 60 * 60 * 1000,
  /** The last use of a key is written at most this often. */
  keyTouchMs: 60_000,
  /** Rotation: how long the old key or signing secret stays valid, by default and at most. */
  rotationOverlapMs: 24 * 60 * 60 * 1000,
  rotationOverlapMaxMs: 30 * 24 * 60 * 60 * 1000,
  /** Parsed Ed25519 keys that are cached. */
  signingKeysRememberedMax: 4_096,
  /** Portal: how long a link lasts by default, at least and at most; size of the logo. */
  portalMs: 8 * 60 * 60 * 1000,
  portalMinMs: 60_000,
  portalMaxMs: 7 * 24 * 60 * 60 * 1000,
  portalLogoBytesMax: 262_144,
} as const;
