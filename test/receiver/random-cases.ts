// Random callbacks for a comparison of verifiers: genuine ones, and ones with any part changed, several
// signatures, times around the edge of the tolerance, and bodies and headers of every sort.
import { fc } from '../fast-check.ts';
import { nowS, signatureOf, type Given, type Signer } from './genuine-callbacks.ts';

export interface Case {
  given: Given;
  /** Of the receiver, in milliseconds. */
  nowMs: number;
}

/** Which signatures are in the header, in this order. */
type Part = 'genuine' | 'foreign' | 'changed' | 'unknown' | 'cut';
/** What is changed after it was signed. */
type Change = 'nothing' | 'id' | 'time' | 'body' | 'headers';

const asciiId = fc.stringMatching(/^[!-+\-/-~]{1,40}$/);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.json({ maxDepth: 2 }),
  fc.constantFrom('', '{}', '\ufeff{}', '1800000000.5', '\0', '\r\n', '�', 'é', 'é'),
);

export const body: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 3, arbitrary: text.map((one) => Buffer.from(one)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((one) => Buffer.from(one)) },
);

/** Seconds that the callback is ahead of the receiver's clock. */
const aheadS = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -299, max: 299 }) },
  { weight: 2, arbitrary: fc.constantFrom(-302, -301, -300, -299, 299, 300, 301, 302) },
  { weight: 1, arbitrary: fc.integer({ min: -100_000, max: 100_000 }) },
);

const severalParts = (most: number): fc.Arbitrary<Part[]> =>
  fc.array(fc.constantFrom<Part>('genuine', 'foreign', 'changed', 'unknown', 'cut'), {
    minLength: 1,
    maxLength: most,
  });

const parts: fc.Arbitrary<Part[]> = fc.oneof(
  { weight: 9, arbitrary: fc.constant<Part[]>(['genuine']) },
  { weight: 5, arbitrary: severalParts(3) },
  { weight: 1, arbitrary: severalParts(8) },
);

const change = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Change>('nothing') },
  { weight: 2, arbitrary: fc.constantFrom<Change>('id', 'time', 'body', 'headers') },
);

export function cases(own: Signer, foreign: Signer): fc.Arbitrary<Case> {
  const facts = fc.record({
    id: asciiId,
    body,
    aheadS,
    millis: fc.nat(999),
    parts,
    change,
    at: fc.nat(1_000),
    bit: fc.nat(7),
    otherId: asciiId,
    headers: oddHeaders,
  });
  return facts.map((drawn) => {
    const timestamp = String(nowS + drawn.aheadS);
    const signed = { id: drawn.id, timestamp, body: drawn.body };
    const good = signatureOf(own, signed);
    const written: Record<Part, string> = {
      genuine: good,
      foreign: signatureOf(foreign, signed),
      changed: swapCharacter(good, drawn.at),
      unknown: good.replace(/^v1a?/, 'v2'),
      cut: good.slice(0, 3 + (drawn.at % 44)) || 'v1',
    };
    const headers: Given['headers'] = {
      'webhook-id': drawn.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': drawn.parts.map((part) => written[part]).join(' '),
    };
    const changed = apply(drawn, { headers, body: drawn.body });
    return { given: changed, nowMs: nowS * 1000 + drawn.millis };
  });
}

interface Drawn {
  change: Change;
  at: number;
  bit: number;
  otherId: string;
  headers: Given['headers'];
}

function apply({ change: what, at, bit, otherId, headers: odd }: Drawn, given: Given): Given {
  const { headers, body: bytes } = given;
  switch (what) {
    case 'nothing':
      return given;
    case 'id':
      return { headers: { ...headers, 'webhook-id': otherId }, body: bytes };
    case 'time': {
      const time = String(Number(headers['webhook-timestamp']) + (at % 3) - 1);
      return { headers: { ...headers, 'webhook-timestamp': time }, body: bytes };
    }
    case 'body': {
      const flipped = Buffer.from(bytes.length === 0 ? 'x' : bytes);
      const place = at % flipped.length;
      flipped[place] = (flipped[place] ?? 0) ^ (1 << bit);
      return { headers, body: flipped };
    }
    case 'headers':
      return { headers: { ...headers, ...odd }, body: bytes };
  }
}

const oddText = fc.oneof(
  fc.constantFrom('', ' ', '0', '-1', 'NaN', 'v1', 'v1,', ',', 'v1a,AAAA', 'null', 'undefined'),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** Some of the three, replaced by anything or taken away; and others that mean nothing. */
const oddHeaders: fc.Arbitrary<Given['headers']> = fc.record(
  {
    'webhook-id': oddText,
    'webhook-timestamp': oddText,
    'webhook-signature': fc.oneof(oddText, fc.constant(undefined)),
    'x-other': oddText,
    'svix-other': oddText,
  },
  { requiredKeys: [] },
);

function swapCharacter(value: string, at: number): string {
  const place = 3 + (at % (value.length - 3));
  const next = value.charAt(place) === 'A' ? 'B' : 'A';
  return value.slice(0, place) + next + value.slice(place + 1);
}
