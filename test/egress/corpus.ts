// The corpus of SSRF URLs in thousands of spellings. It is a folder beside the checkout, ../shared/corpus; without
// it, the tests that need it are skipped with a reason.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

export interface CorpusRow {
  /** The hidden address, or `name` or `scheme`. */
  target: string;
  spelling: string;
  wrap: string;
  url: string;
}

const file = new URL('../../../shared/corpus/ssrf-urls.json', import.meta.url);

/** Why there is no corpus; undefined if there is one. */
export const corpusMissing = existsSync(file)
  ? undefined
  : 'the corpus ../shared/corpus/ssrf-urls.json is absent';

/** Empty if the corpus is missing. */
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

/** The only name in the corpus that is really public: a decoy. */
export const decoyName = 'example.com';

/** The address to which every other name resolves. */
export function hiddenAddress({ target }: CorpusRow): string {
  return /^\d/.test(target) ? target : '10.0.0.1';
}

/** The URL as the parser reads it, without the parts that the text layer refuses. */
export function laundered(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.username = '';
  parsed.password = '';
  parsed.hash = '';
  return parsed.href;
}
