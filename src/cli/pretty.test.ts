import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/fast-check.ts';
import { prettyLine } from './pretty.ts';

const time = '2026-11-15T17:04:05.678Z';
const line = {
  level: 30,
  time,
  requestId: 'req_1',
  status: 202,
  did: 'key created',
  msg: 'request',
};

describe('prettyLine', () => {
  it('shows time, level, what happened, and the facts', () => {
    const text = prettyLine(JSON.stringify(line), { isColoured: false });
    assert.equal(text, '17:04:05.678 INFO  request requestId=req_1 status=202 did="key created"\n');
  });

  it('shows the whole story of an error below its line', () => {
    const err = { type: 'Error', message: 'x', stack: 'Error: x\n    at y' };
    const text = prettyLine(JSON.stringify({ ...line, level: 50, err }), { isColoured: false });
    assert.deepEqual(text.split('\n').slice(1), ['    Error: x', '        at y', '']);
    assert.match(text, /ERROR request/);
  });

  it('paints where colours are welcome', () => {
    const text = prettyLine(JSON.stringify(line), { isColoured: true });
    assert.ok(text.includes('\u001b[32mINFO \u001b[39m'));
  });

  it('shows what is no JSON as it is', () => {
    assert.equal(prettyLine('not JSON\n', { isColoured: false }), 'not JSON\n');
    assert.equal(prettyLine('3\n', { isColoured: false }), '3\n');
  });

  it('sends a terminal nothing that it would obey', () => {
    const property = fc.property(
      fc.array(fc.nat({ max: 0x206f })).map((codes) => String.fromCharCode(...codes)),
      fc.string(),
      (value, name) => {
        const facts = { ...line, [name]: value, msg: value, err: { stack: value } };
        const text = prettyLine(JSON.stringify(facts), { isColoured: false });
        // Its own line breaks aside.
        assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
      },
    );
    fc.assert(property);
  });
});
