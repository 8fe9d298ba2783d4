// Part of `npm run lint`: finds private idioms in text for people: pages, help, messages, descriptions and comments.
// Excludes decision records, which are history, and the recorded results of the proof, whose messages come from
// test/proof. Exits with 1 if it finds any.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Idioms, and their replacements. */
const idioms: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(whoever|somebody|nobody)\b/i, 'name the subject: the caller, the client, a reader, no one'],
  [/\banew\b/i, 'again'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, repair'],
  [/\bhears?\b/i, 'is notified, matches, receives'],
  [/\b(un)?told\b/i, 'notified, reported'],
  [/\b(taken up|take-up)\b/i, 'claimed'],
  [/\b(is|are|was|were) born\b/i, 'is inserted'],
  [/\b(what|all that) waits\b/i, 'pending'],
  [/\bunder way\b/i, 'in flight, in progress'],
  [/\bfor good\b/i, 'permanently'],
  [/\bin its turn\b/i, 'leave it out'],
  [/\bis no use\b/i, 'does not help'],
  [/\bwho (asks|heard|works)\b/i, 'name the subject'],
];

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'openapi.yaml'];
const texts = ['docs/**/*.md', 'examples/**/*.md', 'src/**/README.md'];
const programs = [
  'src/**/*.ts',
  'console/{src,portal}/**/*.{ts,tsx}',
  'bin/*',
  'examples/**/*.{js,mjs,ts}',
];

const root = join(import.meta.dirname, '..');
const found = [
  ...[...pages, ...filesIn(texts)].flatMap((path) => findIn(path, ownWords)),
  ...filesIn(programs).flatMap((path) => findIn(path, proseOf)),
];
for (const line of found) console.error(line);
if (found.length > 0) {
  console.error(`\n${found.length} lines use words that only this project understands.`);
  process.exitCode = 1;
}

function filesIn(patterns: readonly string[]): string[] {
  const left = /^docs\/decisions\/|\/node_modules\//;
  return globSync([...patterns], { cwd: root }).filter((path) => !left.test(path));
}

function findIn(path: string, read: (text: string) => string): string[] {
  const lines = read(readFileSync(join(root, path), 'utf8')).split('\n');
  return lines.flatMap((line, i) =>
    idioms.flatMap(([pattern, instead]) => {
      const word = pattern.exec(line)?.[0];
      return word === undefined ? [] : [`${path}:${i + 1}: "${word}": ${instead}`];
    }),
  );
}

/** A page without link targets, which are file names, and without recorded messages. */
function ownWords(page: string): string {
  const isRecorded = page.startsWith('# The proof\n');
  const text = isRecorded ? page.replaceAll(/^\|(?: [^\n]* \|){3} [\d.]+ s \|$/gm, '') : page;
  return text.replaceAll(/\]\([^)\s]+\)/g, ']');
}

/** Comments and strings of a program; code becomes spaces, so that lines keep their numbers. */
function proseOf(program: string): string {
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|>[^<>{}=;()]+<|[\s\S]/g;
  return program.replace(token, (part) => (part.length > 1 || part === '\n' ? part : ' '));
}
