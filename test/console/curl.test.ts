// A copied command sends exactly the request, in the shells that people paste it into.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { curl, quote } from '../../console/src/deliveries/curl.ts';

const texts = [
  '',
  'plain',
  'it\'s $HOME `id` \\n $(id) "quoted" !! \\',
  '-rf /; id #',
  '@/etc/passwd',
  'two\nlines\nand one more',
  'turned \u202e round, hidden \u200b, \u2028, \ufeff',
  'bell \u0007, return \r, tab \t, CSI \u009b201~, escape \u001b[201~ \u007f 7',
  '{"é":"😀","big":12345678901234567890,"esc":"\\u202e"}',
];

function shellReads(word: string): string {
  return execFileSync('bash', ['-c', `printf %s ${word}`], { encoding: 'utf8' });
}

describe('quote', () => {
  it('is read by the shell as the text itself', () => {
    for (const text of texts) assert.equal(shellReads(quote(text)), text);
  });
  it('contains no control characters and no invisible ones', () => {
    const obeyed = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
    for (const text of texts) assert.doesNotMatch(quote(text).replaceAll('\n', ''), obeyed);
  });
});

describe('curl', () => {
  it('sends method, URL, headers and the unchanged body', () => {
    const command = curl({
      method: 'PUT',
      url: 'http://a.example/x?y[]={z}&q=it%27s',
      headers: [
        ['content-type', 'application/json'],
        ['x-empty', ''],
      ],
      body: '@not-a-file',
    });
    const words = execFileSync('bash', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], {
      encoding: 'utf8',
    });
    assert.deepEqual(words.split('\0').slice(0, -1), [
      '--globoff',
      '-X',
      'PUT',
      'http://a.example/x?y[]={z}&q=it%27s',
      '-H',
      'content-type: application/json',
      '-H',
      'x-empty;',
      '--data-raw',
      '@not-a-file',
    ]);
  });
});
