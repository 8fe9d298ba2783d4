// Signing secrets of a subscription (Standard Webhooks, `whsec_…`) and their rotation: at most two
// are valid at a time, the newest and the one it replaced.

export interface SigningSecret {
  secret: string;
  createdMs: number;
  /** Set when it was replaced: it signs beside the new one until then. */
  expiresMs: number | undefined;
}

export const signingSecretBytes = 32;

export function makeSigningSecret(random: Uint8Array, nowMs: number): SigningSecret {
  return {
    secret: `whsec_${Buffer.from(random).toString('base64')}`,
    createdMs: nowMs,
    expiresMs: undefined,
  };
}

/** The secrets that sign at this moment, newest first. */
export function validSecrets(secrets: readonly SigningSecret[], nowMs: number): SigningSecret[] {
  return secrets.filter(({ expiresMs }) => nowMs < (expiresMs ?? Infinity));
}

/** The new secret first, then the one it replaces with its end; older ones are forgotten. */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  next: SigningSecret,
  overlapMs: number,
): SigningSecret[] {
  const [current] = secrets;
  if (current === undefined || overlapMs === 0) return [next];
  return [next, { ...current, expiresMs: next.createdMs + overlapMs }];
}

/** The plain form that seal.ts seals. */
export function encodeSecrets(secrets: readonly SigningSecret[]): Uint8Array {
  return Buffer.from(
    JSON.stringify(secrets.map((s) => [s.secret, s.createdMs, s.expiresMs ?? null])),
  );
}

export function decodeSecrets(plain: Uint8Array): SigningSecret[] {
  const rows: unknown = JSON.parse(Buffer.from(plain).toString());
  if (!Array.isArray(rows)) throw new TypeError('Cannot decode signing secrets: expected a list');
  return rows.map((row: unknown) => {
    const [secret, createdMs, expiresMs] = Array.isArray(row) ? (row as unknown[]) : [];
    if (typeof secret !== 'string' || typeof createdMs !== 'number') {
      throw new TypeError('Cannot decode signing secrets: expected [secret, createdMs, expiresMs]');
    }
    return {
      secret,
      createdMs,
      expiresMs: typeof expiresMs === 'number' ? expiresMs : undefined,
    };
  });
}
