import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { changeText } from '../proof/controls/change-source.ts';
import { mutantsOf } from '../proof/mutation/mutants.ts';
import { subjects } from '../proof/mutation/subjects.ts';
import { verdicts } from '../proof/mutation/verdicts.ts';

const root = join(import.meta.dirname, '..', '..');

function changesOf(source: string): string[] {
  return mutantsOf('x.ts', source).map((mutant) => changeText(source, mutant));
}

describe('mutantsOf', () => {
  it('reverses comparisons and moves their bounds', () => {
    assert.deepEqual(changesOf('const a = (b: B) => b < c;'), [
      'const a = (b: B) => b <= c;',
      'const a = (b: B) => b >= c;',
    ]);
    assert.deepEqual(changesOf('const a = b !== c;'), ['const a = b === c;', 'const a = b > c;']);
    assert.deepEqual(changesOf('const a = b !== undefined;'), ['const a = b === undefined;']);
  });

  it('negates conditions, once', () => {
    assert.deepEqual(changesOf('if (a) b = c;'), ['if (!(a)) b = c;']);
    assert.deepEqual(changesOf('if (!a) b = c;'), ['if (a) b = c;']);
  });

  it('removes calls and returns, but no assertions', () => {
    assert.deepEqual(changesOf('const f = async () => { await a(); };'), [
      'const f = async () => { void 0; };',
    ]);
    assert.deepEqual(changesOf('const f = () => { return; };'), ['const f = () => { void 0; };']);
    assert.deepEqual(changesOf('assert(a);'), []);
  });

  it('changes numbers, booleans, and min and max, but no types', () => {
    assert.deepEqual(changesOf('let a: 1 | true = 1;'), ['let a: 1 | true = (1 + 1);']);
    assert.deepEqual(changesOf('f = () => true;'), ['f = () => false;']);
    assert.deepEqual(changesOf('a = Math.min(b, c);'), ['a = Math.max(b, c);']);
  });

  it('finds a unique location for every mutant of a file', () => {
    for (const file of subjects.flatMap(({ files }) => files.slice(0, 1))) {
      const source = readFileSync(join(root, file), 'utf8');
      for (const mutant of mutantsOf(file, source)) {
        assert.notEqual(changeText(source, mutant), source);
      }
    }
  });
});

describe('verdicts', () => {
  it('each refer to a mutant of a subject', () => {
    const files = new Set(subjects.flatMap((subject) => subject.files));
    for (const { file, find, replace } of verdicts) {
      assert(files.has(file), file);
      const source = readFileSync(join(root, file), 'utf8');
      const changed = changeText(source, { file, find, replace });
      const texts = mutantsOf(file, source).map((mutant) => changeText(source, mutant));
      assert(texts.includes(changed), `${file}: no mutant turns "${find}" into "${replace}"`);
    }
  });
});
