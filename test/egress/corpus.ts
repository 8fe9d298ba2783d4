// The URLs that reach where they must not, in a thousand spellings. They lie beside the checkout, as
// ../shared/corpus; where they do not, whoever needs them says so and skips.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

export interface CorpusRow {
  /** The address behind it, or `name` or `scheme`. */
  target: string;
  spelling: string;
  wrap: string;
  url: string;
}

const file = new URL('../../../shared/corpus/ssrf-urls.json', import.meta.url);

/** Why there is no corpus; undefined when there is one. */
export const corpusMissing = existsSync(file)
  ? undefined
  : 'the corpus ../shared/corpus/ssrf-urls.json is absent';

/** Empty where it is missing. */
export function readCorpus(): CorpusRow[] {
  if (corpusMissing !== undefined) return [];
  const rows: unknown = JSON.parse(readFileSync(file, 'utf8'));
  assert(Array.isArray(rows));
  return rows.map((row: unknown) => {
    assert(typeof row === 'object' && row !== null);
    const text = (key: string): string => {
      const value: unknown = Reflect.get(row, key);
      assert(typeof value === 'string');
      return value;
    };
    return {
      target: text('target'),
      spelling: text('spelling'),
      wrap: text('wrap'),
      url: text('url'),
    };
  });
}

/** The one name of the corpus that really is public: a decoy. */
export const decoyName = 'example.com';

/** What lies behind every other name. */
export function hiddenAddress({ target }: CorpusRow): string {
  return /^\d/.test(target) ? target : '10.0.0.1';
}

/** What the URL parser alone makes of it, with everything removed that the text layer refuses. */
export function laundered(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.username = '';
  parsed.password = '';
  parsed.hash = '';
  return parsed.href;
}
