// The READMEs of src are true: the folders, files and functions that they name exist, and their
// tables list every folder.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const pages = globSync('src/**/README.md', { cwd: root }).sort();

/** A table row, a list item or a paragraph: a function belongs to a file that is named beside it. */
function piecesOf(text: string): string[] {
  return text.split(/\n(?=\||\s*- |\s*\d+\. |\n|#)/);
}

function codeIn(piece: string): string[] {
  return [...piece.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** Paths are relative to the folder of their row, to the README's folder, to src, or to the root. */
function placeOf(
  path: string,
  { folder, piece }: { folder: string; piece: string },
): string | undefined {
  const row = /^\| `([\w-]+\/)`/.exec(piece)?.[1] ?? '';
  const places = [join(folder, row), folder, join(root, 'src'), root];
  return places.map((place) => join(place, path)).find((place) => existsSync(place));
}

function faultsIn(text: string, folder: string): string[] {
  return piecesOf(text).flatMap((piece) => {
    const codes = codeIn(piece);
    const paths = codes.filter((code) => /^[\w./-]+(\.(ts|md|yaml)|\/)$/.test(code));
    const places = paths.map((path) => ({ path, place: placeOf(path, { folder, piece }) }));
    const missing = places.flatMap(({ path, place }) => (place === undefined ? [path] : []));
    const sources = places.flatMap(({ place = '' }) =>
      place.endsWith('.ts') ? [readFileSync(place, 'utf8')] : [],
    );
    const unknown = codes
      .flatMap((code) => /^(#?\w+)\(\)$/.exec(code)?.[1] ?? [])
      .filter(
        (name) => !sources.some((source) => new RegExp(`(?<![\\w#])${name}\\b`).test(source)),
      );
    return [
      ...missing.map((path) => `${path} does not exist`),
      ...unknown.map((name) => `${name}() is in no file named beside it`),
    ];
  });
}

function foldersIn(folder: string): string[] {
  const found = readdirSync(folder, { withFileTypes: true });
  return found.flatMap((one) => (one.isDirectory() ? [`${one.name}/`] : [])).sort();
}

function foldersListed(text: string): string[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) => row.split('|')[1] ?? '');
  return cells
    .flatMap(codeIn)
    .filter((code) => code.endsWith('/'))
    .sort();
}

describe('the READMEs of src', () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8');
    const folder = dirname(join(root, page));

    it(`${page} names files and functions that exist`, () => {
      assert.deepEqual(faultsIn(text, folder), []);
    });

    it(`${page} lists every folder`, () => {
      assert.deepEqual(foldersListed(text), foldersIn(folder));
    });
  }

  it('are checked: an unknown file, an unknown function, and a function of another file are found', () => {
    const faults = (text: string): number => faultsIn(text, join(root, 'src', 'core')).length;
    assert.equal(faults('`domain/retry.ts` `nextWaitMs()`'), 0);
    assert.equal(faults('`domain/retries.ts`'), 1);
    assert.equal(faults('`domain/retry.ts` `nextWait()`'), 1);
    assert.equal(faults('1. `domain/retry.ts`\n2. `domain/lane.ts` `nextWaitMs()`'), 1);
  });
});
