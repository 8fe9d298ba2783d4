// Texts for a schema: by format, by pattern, or plain, within the lengths that are asked for.
import { bounds } from './bounds.ts';
import { patternTest } from './pattern-test.ts';
import { readPattern } from './sample-pattern.ts';

export interface TextRules {
  formats: readonly string[];
  patterns: readonly string[];
  minLength: number;
  maxLength: number;
  /** What the value is called, as a hint. */
  name: string;
}

/** Texts to try, the best first. `variant` 1, 2, … gives others than 0 does. */
export function textsFor(rules: TextRules, variant: number): string[] {
  const { formats, patterns, minLength, maxLength } = rules;
  const hint = formats.length + patterns.length === 0 ? hints.find(isHint)?.[1] : undefined;
  const named = [...formats, hint ?? ''].flatMap((format) => formatted(format, variant));
  const tests = patterns.map(patternTest);
  const plainTexts = [variant, variant + 1, variant + 2].map((one) => plain(rules, one));
  const drafts = [
    ...named.flatMap((text) => [text, lengthened(text, minLength)]),
    ...(patterns.length === 0 ? [] : fromPatterns(rules, variant)),
    ...plainTexts,
  ];
  const texts = new Set(drafts.filter(fits));
  return [...texts].slice(0, bounds.sampleOptionsMax);

  function isHint([name]: readonly [RegExp, string]): boolean {
    return name.test(rules.name);
  }

  function fits(text: string): boolean {
    const length = Array.from(text).length;
    if (length < minLength || length > maxLength) return false;
    return tests.every((test) => test(text));
  }
}

const hints: readonly (readonly [RegExp, string])[] = [
  [/(?:ur[il]|sink)$/iu, 'uri'],
  [/e-?mail$/iu, 'email'],
];

/** Names of receivers are those that RFC 2606 keeps for examples. */
const formats: Readonly<Record<string, (variant: number) => string>> = {
  uri: url,
  url,
  'uri-reference': url,
  iri: url,
  'iri-reference': url,
  'uri-template': (variant) => `https://example.com/${variant}/{id}`,
  email: (variant) => `user${variant === 0 ? '' : variant}@example.com`,
  'idn-email': (variant) => `user${variant === 0 ? '' : variant}@example.com`,
  hostname: (variant) => `${variant === 0 ? 'www' : `host${variant}`}.example.com`,
  'idn-hostname': (variant) => `${variant === 0 ? 'www' : `host${variant}`}.example.com`,
  ipv4: (variant) => `192.0.2.${(variant % 254) + 1}`,
  ip: (variant) => `192.0.2.${(variant % 254) + 1}`,
  ipv6: (variant) => `2001:db8::${(variant + 1).toString(16)}`,
  uuid: (variant) => `3fa85f64-5717-4562-b3fc-${(0x2c963f66afa6 + variant).toString(16)}`,
  'date-time': (variant) => at(variant).toISOString().replace('.000', ''),
  'iso-date-time': (variant) => at(variant).toISOString().replace('.000', ''),
  date: (variant) =>
    at(variant * 86_400)
      .toISOString()
      .slice(0, 10),
  time: (variant) => at(variant).toISOString().slice(11).replace('.000', ''),
  'iso-time': (variant) => at(variant).toISOString().slice(11).replace('.000', ''),
  duration: (variant) => `P${variant + 1}D`,
  byte: (variant) => Buffer.from(`sample${variant === 0 ? '' : variant}`).toString('base64'),
  'json-pointer': (variant) => `/${variant}`,
  'relative-json-pointer': (variant) => String(variant),
  regex: (variant) => `^a{${variant}}$`,
};

function formatted(format: string, variant: number): string[] {
  return Object.hasOwn(formats, format) ? [formats[format]?.(variant) ?? ''] : [];
}

function url(variant: number): string {
  return `https://example.com/${variant === 0 ? 'callback' : `callback${variant}`}`;
}

const startMs = Date.UTC(2030, 0, 31, 12);

function at(seconds: number): Date {
  return new Date(startMs + seconds * 1_000);
}

/** Letters at the end do no harm to a URL, to a host name or to an address of e-mail. */
function lengthened(text: string, minLength: number, char = 'a'): string {
  return text.padEnd(Math.min(minLength, bounds.sampleCharsMax), char);
}

function plain({ minLength, maxLength }: TextRules, variant: number): string {
  const end = variant === 0 ? '' : String(variant);
  const length = Math.max(Math.min('string'.length + end.length, maxLength), minLength);
  if (length > bounds.sampleCharsMax) return '';
  if (length < end.length) return String.fromCodePoint(97 + (variant % 26)).repeat(length);
  return `${'string'.repeat(length).slice(0, length - end.length)}${end}`;
}

/** Each pattern writes; the texts of one may fit the others too. */
function fromPatterns({ patterns, minLength }: TextRules, variant: number): string[] {
  return patterns.flatMap((pattern) => {
    const write = readPattern(pattern);
    if (write === undefined) return [];
    const shortest = Array.from(write({ variant, more: 0 })).length;
    const lack = Math.min(Math.max(0, minLength - shortest), bounds.sampleCharsMax);
    return [lack, lack + 1, lack + 2, 6, 12].flatMap((more) =>
      [variant, variant + 1, variant + 2].flatMap((one) => {
        const text = write({ variant: one, more });
        return [text, lengthened(text, minLength), lengthened(text, minLength, '1')];
      }),
    );
  });
}
