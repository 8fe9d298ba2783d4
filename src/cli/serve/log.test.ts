import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { prettyLine } from './log.ts';

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
  it('shows time, level, message, and the facts', () => {
    const text = prettyLine(JSON.stringify(line), { isColoured: false });
    assert.equal(text, '17:04:05.678 INFO  request requestId=req_1 status=202 did="key created"\n');
  });

  it('shows the stack of an error below its line', () => {
    const err = { type: 'Error', message: 'x', stack: 'Error: x\n    at y' };
    const text = prettyLine(JSON.stringify({ ...line, level: 50, err }), { isColoured: false });
    assert.deepEqual(text.split('\n').slice(1), ['    Error: x', '        at y', '']);
    assert.match(text, /ERROR request/);
  });

  it('paints if colours are wanted', () => {
    const text = prettyLine(JSON.stringify(line), { isColoured: true });
    assert.ok(text.includes('\u001b[32mINFO \u001b[39m'));
  });

  it('shows text that is not JSON unchanged', () => {
    assert.equal(prettyLine('not JSON\n', { isColoured: false }), 'not JSON\n');
    assert.equal(prettyLine('3\n', { isColoured: false }), '3\n');
  });

  it('escapes everything that a terminal would interpret', () => {
    const property = fc.property(
      fc.array(fc.nat({ max: 0x206f })).map((codes) => String.fromCharCode(...codes)),
      fc.string(),
      (value, name) => {
        const facts = { ...line, [name]: value, msg: value, err: { stack: value } };
        const text = prettyLine(JSON.stringify(facts), { isColoured: false });
        // Except its own line breaks.
        assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
      },
    );
    fc.assert(property);
  });
});
