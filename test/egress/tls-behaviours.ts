// Misbehaviours over https: certificates that must not be trusted, and handshakes that fail.
import type { TlsOptions } from 'node:tls';
import type { Behaviour } from './receiver-behaviours.ts';
import { thenEnds } from './hostile-connections.ts';
import { behaviours } from './receiver-behaviours.ts';
import { makeCertificate, type Certificate } from './certificate.ts';
import { answering, ok } from './receiver.ts';

export interface SecureBehaviour extends Behaviour {
  /** The certificate that it presents; undefined: it does not speak TLS, and serves the plain connection. */
  readonly shows: Shown | undefined;
}

export type Shown = 'good' | 'expired' | 'early' | 'stranger' | 'other' | 'old';

export type Certificates = Readonly<Record<Exclude<Shown, 'old'>, Certificate>>;

export function makeCertificates(name: string): Certificates {
  return {
    good: makeCertificate(name),
    expired: makeCertificate(name, { until: '20210101' }),
    early: makeCertificate(name, { from: '20980101' }),
    stranger: makeCertificate(name),
    other: makeCertificate(`other.${name}`, { address: 'none' }),
  };
}

/** All but the self-signed one: the others are trusted, so that only their own fault is refused. */
export function trusted({ good, expired, early, other }: Certificates): string[] {
  return [good, expired, early, other].map(({ certificate }) => certificate);
}

export function shownBy(certificates: Certificates, shows: Shown): TlsOptions {
  const { certificate: cert, key } = certificates[shows === 'old' ? 'good' : shows];
  return { cert, key, ...(shows === 'old' ? tls10 : {}) };
}

const tls10 = {
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1',
  ciphers: 'DEFAULT@SECLEVEL=0',
} as const;

const answersWell = answering(ok());

export const secureBehaviours: readonly SecureBehaviour[] = [
  faulty('has a certificate that has expired', 'expired', /certificate of .* has expired/),
  faulty('has a certificate that is not valid yet', 'early', /certificate of .* is not valid yet/),
  faulty('has a certificate that is self-signed', 'stranger', /certificate of .* is self-signed/),
  faulty('has a certificate of another name', 'other', /certificate of .* another host name/),
  faulty('speaks only TLS 1.0', 'old', /1\.2/),
  {
    does: 'speaks plain http',
    shows: undefined,
    serve: answering('HTTP/1.1 400 No\r\n\r\n'),
    is: 'tls',
    message: /does not speak TLS/,
  },
  {
    ...like('hangs after accept'),
    does: 'stalls in the handshake',
    shows: undefined,
    message: /./,
  },
  {
    does: 'closes in the handshake',
    shows: undefined,
    serve: (socket) => void socket.once('data', () => socket.end()),
    is: 'reset',
  },
  {
    does: 'resets in the handshake',
    shows: undefined,
    serve: (socket) => void socket.once('data', () => socket.resetAndDestroy()),
    is: 'reset',
  },
  { does: 'answers well', shows: 'good', serve: answersWell, is: '200 whole', body: 'ok' },
  {
    does: 'closes in its body',
    shows: 'good',
    serve: thenEnds('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal', 'end'),
    is: '200 cut',
    body: 'hal',
  },
  { ...like('hangs after accept'), shows: 'good' },
  { ...like('never ends its body'), shows: 'good' },
  { ...like('drips its body'), shows: 'good' },
];

function faulty(does: string, shows: Shown, message: RegExp): SecureBehaviour {
  return { does, shows, serve: answersWell, is: 'tls', message };
}

function like(does: string): Behaviour {
  const found = behaviours.find((one) => one.does === does);
  if (found === undefined) throw new Error(`No receiver "${does}" on http`);
  return found;
}
