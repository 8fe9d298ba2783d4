import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { quote, variableFor } from './shell.ts';

/** What a real shell makes of the word. */
function read(word: string): string {
  const env = { KEY: 'k e$y', ID: '1' };
  return execFileSync('/bin/sh', ['-c', `printf %s ${word}`], { env, encoding: 'utf8' });
}

describe('quote', () => {
  it('means itself, whatever it holds', () => {
    for (const text of [
      "it's",
      '$(id)',
      '`id`',
      '"; id; "',
      '!x',
      String.raw`a\b`,
      'a\nb',
      '#',
      '',
    ]) {
      assert.equal(read(quote(text)), text);
    }
  });

  it('reads variables beside text, in one pair of double quotes where that is safe', () => {
    assert.equal(quote('X-API-Key: ', { variable: 'KEY' }), '"X-API-Key: $KEY"');
    assert.equal(read(quote('X-API-Key: ', { variable: 'KEY' })), 'X-API-Key: k e$y');
    assert.equal(read(quote('$(id)`"\': ', { variable: 'KEY' })), '$(id)`"\': k e$y');
  });

  it('never lets text grow the name of a variable', () => {
    assert.equal(read(quote({ variable: 'ID' }, 'X/y')), '1X/y');
  });

  it('takes out what a terminal would obey', () => {
    const esc = String.fromCodePoint(27);
    assert.equal(read(quote(`a${esc}[201~b\rc`)), 'a [201~b c');
  });
});

describe('variableFor', () => {
  it('never takes a name that means something already', () => {
    assert.deepEqual(variableFor('id'), { variable: 'ID' });
    assert.deepEqual(variableFor('path'), { variable: 'MY_PATH' });
    assert.deepEqual(variableFor('key'), { variable: 'MY_KEY' });
    assert.deepEqual(variableFor('$(rm -rf)'), { variable: 'MY__RM_RF_' });
  });
});
