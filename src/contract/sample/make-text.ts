// Makes texts for a schema: by format, by pattern or plain. Candidates are checked against the rules first, which counts
// as work.
import { remembered } from '../../core/base/lazy.ts';
import { bounds } from '../document/bounds.ts';
import { Exhausted, makeMeter, pay, runMetered, type Work } from '../schema/meter.ts';
import type { Node } from '../schema/regex-program.ts';
import { readRegex } from '../schema/regex.ts';

export interface TextRules {
  formats: readonly string[];
  patterns: readonly string[];
  minLength: number;
  maxLength: number;
  /** The name of the property, as a hint. */
  name: string;
}

export interface Texts {
  /** Texts to try, the best first. Each `variant` (0, 1, 2, …) returns different ones. */
  textsFor: (rules: TextRules, variant: number) => string[];
  matches: (pattern: string, text: string) => boolean;
}

export function makeTexts(work: Work): Texts {
  const patternFor = remembered((pattern) => readPattern(pattern, work));
  const textsFor: Texts['textsFor'] = (rules, variant) => {
    const { minLength, maxLength } = rules;
    const patterns = rules.patterns.map(patternFor);
    const hint = rules.formats.length + patterns.length === 0 ? hintFor(rules.name) : undefined;
    const named = [...rules.formats, hint ?? ''].flatMap(
      (format) => formats.get(format)?.(variant) ?? [],
    );
    const starts = patterns.map((pattern) => pattern.write({ variant, more: 0 }));
    const drafts = [
      ...named.flatMap((text) => [text, lengthened(text, minLength)]),
      plain(rules, variant),
      ...patterns.flatMap((pattern) => byPattern(pattern, minLength, variant)),
      ...(starts.length === 0 ? [] : combined(starts, named, minLength)),
      ...[1, 2, 3].map((more) => plain(rules, variant + more)),
    ];
    const texts = new Set<string>();
    for (const text of new Set(drafts)) {
      pay(work, text.length + bounds.sampleStepsEach);
      const length = Array.from(text).length;
      if (length < minLength || length > maxLength) continue;
      if (patterns.every(({ test }) => test(text))) texts.add(text);
      if (texts.size === bounds.sampleOptionsMax) break;
    }
    return [...texts];
  };
  return { textsFor, matches: (pattern, text) => patternFor(pattern).test(text) };
}

interface Pattern {
  test: (text: string) => boolean;
  /** Writes a text that probably matches. `more`: how many characters above the minimum. */
  write: (writing: { variant: number; more: number }) => string;
}

/** A pattern that is refused matches nothing; a text that takes too long to check does not match. */
function readPattern(pattern: string, work: Work): Pattern {
  pay(work, pattern.length * bounds.sampleStepsEach);
  const reading = readRegex(pattern);
  if (reading.kind === 'refused') return { test: () => false, write: () => '' };
  const { regex, node, isUnicode } = reading;
  const meter = makeMeter();
  const stepsMax = bounds.checkStepsMax;
  const charsOf = remembered((source) => charsFor(source, isUnicode ? 'u' : '', work));
  return {
    test(text) {
      try {
        return runMetered(meter, { work, stepsMax }, () => regex.test(text, meter));
      } catch (error) {
        if (error instanceof Exhausted) return false;
        throw error;
      }
    },
    write: (writing) => write(node, { ...writing, charsOf, work }),
  };
}

/** Characters in the order of preference: letters and digits first. */
const alphabet = Array.from(
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890-_./:@+ !"#$%&\'()*,;<=>?[\\]^`{|}~é中\t\n',
);
const codesMax = 0x3000;

/** The characters that this part of a pattern matches: `a`, `[^,;]`, `\d`. */
function charsFor(source: string, flags: string, work: Work): readonly string[] {
  pay(work, alphabet.length * 10);
  const one = new RegExp(`^(?:${source})$`, flags);
  const chars = alphabet.filter((char) => one.test(char));
  if (chars.length > 0) return chars;
  pay(work, codesMax * 10);
  const others = Array.from({ length: codesMax }, (_none, code) => String.fromCharCode(code));
  return others.filter((char) => one.test(char)).slice(0, 1);
}

interface Pen {
  variant: number;
  more: number;
  charsOf: (source: string) => readonly string[];
  work: Work;
}

function write(node: Node, pen: Pen): string {
  pay(pen.work, 10);
  switch (node.kind) {
    case 'one':
      return pick(pen.charsOf(node.source), pen) ?? '';
    case 'assert':
      return '';
    case 'all':
      return node.parts.map((part) => write(part, pen)).join('');
    case 'any': {
      const chosen = pick(node.parts, pen);
      return chosen === undefined ? '' : write(chosen, pen);
    }
    case 'repeat':
      return repeat(node, pen);
  }
}

function repeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>, pen: Pen): string {
  let text = '';
  for (let count = 0; count < max && text.length <= bounds.sampleCharsMax; count += 1) {
    if (count >= min && pen.more <= 0) break;
    const added = write(part, pen);
    if (added === '') break; // Repeating an empty text adds nothing.
    if (count >= min) pen.more -= Math.max(1, Array.from(added).length);
    text += added;
  }
  return text;
}

/** Variants count like an odometer: the first place changes fastest. */
function pick<T>(options: readonly T[], pen: Pen): T | undefined {
  const chosen = options[pen.variant % options.length];
  pen.variant = Math.floor(pen.variant / options.length);
  return chosen;
}

/** Texts written by this pattern; they may match the other patterns as well. */
function byPattern(pattern: Pattern, minLength: number, variant: number): string[] {
  const shortest = Array.from(pattern.write({ variant, more: 0 })).length;
  const lack = Math.min(Math.max(0, minLength - shortest), bounds.sampleCharsMax);
  const longer = [lack, lack + 1, lack + 2, 6, 12].map((more) => pattern.write({ variant, more }));
  const other = pattern.write({ variant: variant + 1, more: lack });
  return [...longer, other].flatMap((text) => [
    text,
    lengthened(text, minLength),
    lengthened(text, minLength, '1'),
  ]);
}

/** Texts for several patterns, for a pattern beside a format, and for a pattern that asks for kinds of characters. */
function combined(
  starts: readonly string[],
  named: readonly string[],
  minLength: number,
): string[] {
  return [
    ...named.flatMap((text) => [
      text.toUpperCase(),
      ...starts.map((one) => one + text.slice(one.length)),
    ]),
    lengthened(starts.join(''), minLength),
    `${lengthened(starts[0] ?? '', minLength - 1)}${starts.slice(1).join('')}`,
    lengthened('Example-1', minLength),
  ];
}

function hintFor(name: string): string | undefined {
  if (/(?:ur[il]|sink)$/iu.test(name)) return 'uri';
  return /e-?mail$/iu.test(name) ? 'email' : undefined;
}

const url = (variant: number): string => `https://example.com/callback${variant || ''}`;
const email = (variant: number): string[] => [
  `user${variant || ''}@example.com`,
  `u${variant || ''}@a.example`,
];
const host = (variant: number): string => `${variant === 0 ? 'www' : `host${variant}`}.example.com`;
const ipv4 = (variant: number): string => `192.0.2.${(variant % 254) + 1}`;
const instant = (seconds: number): string =>
  new Date(Date.UTC(2030, 0, 31, 12) + seconds * 1_000).toISOString().replace('.000', '');

/** Host names are those that RFC 2606 reserves for examples. */
const formats: ReadonlyMap<string, (variant: number) => string | string[]> = new Map(
  Object.entries({
    uri: url,
    url,
    'uri-reference': url,
    iri: url,
    'iri-reference': url,
    'uri-template': (variant: number) => `https://example.com/${variant}/{id}`,
    email,
    'idn-email': email,
    hostname: host,
    'idn-hostname': host,
    ipv4,
    ip: ipv4,
    ipv6: (variant: number) => `2001:db8::${(variant + 1).toString(16)}`,
    uuid: (variant: number) => `3fa85f64-5717-4562-b3fc-${(0x2c963f66afa6 + variant).toString(16)}`,
    'date-time': instant,
    'iso-date-time': instant,
    date: (variant: number) => instant(variant * 86_400).slice(0, 10),
    time: (variant: number) => instant(variant).slice(11),
    'iso-time': (variant: number) => instant(variant).slice(11),
    duration: (variant: number) => `P${variant + 1}D`,
    byte: (variant: number) => Buffer.from(`sample${variant || ''}`).toString('base64'),
    'json-pointer': (variant: number) => `/${variant}`,
    'relative-json-pointer': (variant: number) => String(variant),
    regex: (variant: number) => `^a{${variant}}$`,
  }),
);

/** Letters at the end keep a URL, a host name or an e-mail address valid. */
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
