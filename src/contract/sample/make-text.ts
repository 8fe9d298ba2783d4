// Makes texts for a schema: by format, by pattern or plain. Candidates are checked against the rules first, which counts
// as work, and are made only when they are asked for.
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

/** The best first. `length` is an estimate until the last one was asked for. */
export type Options<T> = Pick<readonly T[], 'length' | 'at'>;

export interface Texts {
  /** Each `variant` (0, 1, 2, …) has different texts. */
  textsFor: (rules: TextRules, variant: number) => Options<string>;
  matches: (pattern: string, text: string) => boolean;
}

export function makeTexts(work: Work): Texts {
  const patternFor = remembered((pattern) => readPattern(pattern, work));
  const known = new Map<string, Options<string>>();
  const textsFor: Texts['textsFor'] = (rules, variant) => {
    const key = JSON.stringify([rules, variant]);
    const options = known.get(key) ?? lazyOptions(fitting(rules, variant));
    known.set(key, options);
    return options;
  };
  return { textsFor, matches: (pattern, text) => patternFor(pattern).test(text) };

  function* fitting(rules: TextRules, variant: number): Generator<string> {
    const { minLength, maxLength } = rules;
    const patterns = rules.patterns.map(patternFor);
    for (const text of draftsFor(rules, patterns, variant)) {
      pay(work, text.length + bounds.sampleStepsEach);
      const length = Array.from(text).length;
      if (length < minLength || length > maxLength) continue;
      if (patterns.every(({ test }) => test(text))) yield text;
    }
  }
}

function lazyOptions(texts: Generator<string>): Options<string> {
  const found = new Set<string>();
  let isDone = false;
  return {
    get length() {
      return isDone ? found.size : bounds.sampleOptionsMax;
    },
    at(index) {
      while (!isDone && found.size <= index) {
        const next = texts.next();
        if (next.done !== true) found.add(next.value);
        isDone = next.done === true || found.size === bounds.sampleOptionsMax;
      }
      return [...found].at(Math.min(index, found.size - 1));
    },
  };
}

function* draftsFor(
  rules: TextRules,
  patterns: readonly Pattern[],
  variant: number,
): Generator<string> {
  const { formats, minLength, name } = rules;
  const isFree = formats.length + patterns.length === 0;
  const writers = (isFree ? [hintIn(name)] : formats).flatMap(templatesFor);
  const starts = patterns.map((pattern) => pattern.write({ variant, more: 0 }));
  for (const one of writers) {
    const text = one(variant);
    yield text;
    yield* [lengthened(text, minLength), text.toUpperCase()];
    for (const start of starts) {
      const length = start.length;
      yield* [start + text.slice(length), text.slice(0, -length) + start, start + text];
      yield text.replace(/@?[^@]*$/u, start);
    }
  }
  yield plain(rules, variant);
  for (const pattern of patterns) yield* writings(pattern, minLength, variant);
  // Several patterns that each ask for a part, or for a kind of character.
  const [first = '', ...others] = starts;
  yield lengthened(starts.join(''), minLength);
  yield lengthened(first, minLength - 1) + others.join('');
  for (const text of ['Example-1', 'Example1!', 'a1', '']) yield lengthened(text, minLength);
  for (let more = 1; more < bounds.sampleOptionsMax; more += 1) {
    yield* [...writers.map((one) => one(variant + more)), plain(rules, variant + more)];
  }
}

function hintIn(name: string): string {
  if (/(?:ur[il]|sink)$/iu.test(name)) return 'uri';
  return /e-?mail$/iu.test(name) ? 'email' : '';
}

interface Pattern {
  test: (text: string) => boolean;
  /** Writes a text that probably matches, and takes from the pen what it used. */
  write: (pen: Pen) => string;
}

/** A pattern that is refused matches nothing; a text that takes too long to check does not match. */
function readPattern(pattern: string, work: Work): Pattern {
  pay(work, pattern.length * bounds.sampleStepsEach);
  const reading = readRegex(pattern);
  if (reading.kind === 'refused') return { test: () => false, write: () => '' };
  const { regex, node, isUnicode } = reading;
  const metered = { work, stepsMax: bounds.checkStepsMax };
  const charsOf = remembered((source) => charsFor(source, isUnicode ? 'u' : '', work));
  const meter = makeMeter();
  return {
    test(text) {
      try {
        return runMetered(meter, metered, () => regex.test(text, meter));
      } catch (error) {
        if (error instanceof Exhausted) return false;
        throw error;
      }
    },
    write: (pen) => write(node, pen, charsOf),
  };
}

/** Characters in the order of preference: letters and digits first. */
const alphabet = Array.from(
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890-_./:@+ !"#$%&\'()*,;<=>?[\\]^`{|}~é中\t\n😀',
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
  /** Which of the possible texts: counts like an odometer, whose first place changes fastest. */
  variant: number;
  /** How many characters above the minimum. */
  more: number;
}

function write(node: Node, pen: Pen, charsOf: (source: string) => readonly string[]): string {
  switch (node.kind) {
    case 'one':
      return pick(charsOf(node.source), pen) ?? '';
    case 'assert':
      return '';
    case 'all':
      return node.parts.map((part) => write(part, pen, charsOf)).join('');
    case 'any': {
      const chosen = pick(node.parts, pen);
      return chosen === undefined ? '' : write(chosen, pen, charsOf);
    }
    case 'repeat': {
      let text = '';
      for (let count = 0; count < node.max && text.length <= bounds.sampleCharsMax; count += 1) {
        if (count >= node.min && pen.more <= 0) break;
        const added = write(node.part, pen, charsOf);
        if (added === '') break; // Repeating an empty text adds nothing.
        if (count >= node.min) pen.more -= Array.from(added).length;
        text += added;
      }
      return text;
    }
  }
}

function pick<T>(options: readonly T[], pen: Pen): T | undefined {
  const chosen = options[pen.variant % options.length];
  pen.variant = Math.floor(pen.variant / options.length);
  return chosen;
}

/** Texts written by this pattern; they may match the other patterns as well. */
function* writings(pattern: Pattern, minLength: number, first: number): Generator<string> {
  for (let variant = first; variant < first + 2 * bounds.sampleOptionsMax; variant += 1) {
    const pen = { variant, more: 0 };
    const shortest = Array.from(pattern.write(pen)).length;
    // What is left of the variant shows that there are no more texts of this length.
    const lack = Math.max(0, minLength - shortest) + Math.sign(pen.variant);
    for (const more of [lack, lack + 1, lack + 2, 6, 12]) {
      const text = pattern.write({ variant, more: Math.min(more, bounds.sampleCharsMax) });
      yield* [text, lengthened(text, minLength), lengthened(text, minLength, '1')];
    }
  }
}

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

function templatesFor(format: string): readonly Template[] {
  const plainer = format.replace(/^i(?:dn|so)-/u, '');
  return templates.get(/^(?:url|iri|[iu]ri-reference)$/u.test(plainer) ? 'uri' : plainer) ?? [];
}

type Template = (variant: number) => string;

const numbered: Template = (variant) => (variant === 0 ? '' : String(variant));
const instant: Template = (seconds) =>
  new Date(Date.UTC(2030, 0, 31, 12) + seconds * 1_000).toISOString();
const short: Template = (seconds) => instant(seconds).replace('.000', '');
const local: Template = (seconds) => short(seconds).replace('Z', '+00:00');

/** By format, the usual one first. Host names are those that RFC 2606 reserves for examples. */
const templates: ReadonlyMap<string, readonly Template[]> = new Map(
  Object.entries({
    uri: [(n) => `https://example.com/callback${numbered(n)}`],
    'uri-template': [(n) => `https://example.com/${n}/{id}`],
    email: [(n) => `user${numbered(n)}@example.com`, (n) => `u${numbered(n)}@a.example`],
    hostname: [(n) => `www${numbered(n)}.example.com`, (n) => `a${numbered(n)}.io`],
    ipv4: [(n) => `192.0.2.${(n % 254) + 1}`, (n) => `10.0.0.${(n % 254) + 1}`],
    ipv6: [(n) => `2001:db8::${(n + 1).toString(16)}`, (n) => `2001:db8:0:0:0:0:0:${n % 10_000}`],
    uuid: [(n) => `3fa85f64-5717-4562-b3fc-${(0x2c963f66afa6 + n).toString(16)}`],
    'date-time': [short, instant, local],
    date: [(n) => instant(n * 86_400).slice(0, 10)],
    time: [short, instant, local].map((one) => (n: number) => one(n).slice(11)),
    duration: [(n) => `P${n + 1}D`, (n) => `PT${n + 1}H`],
    byte: [(n) => Buffer.from(`sample${numbered(n)}`).toString('base64')],
    'json-pointer': [(n) => `/${n}`],
    'json-pointer-uri-fragment': [(n) => `#/${n}`],
    'relative-json-pointer': [String],
    regex: [(n) => `^a{${n}}$`],
  } satisfies Record<string, Template[]>),
);
