import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command, Invocation } from '../declare/command.ts';
import { CliFailure } from '../terminal/failure.ts';
import { readCall } from './read-call.ts';

const command: Command = {
  name: 'try',
  group: 'events',
  summary: 'is only for this test',
  usage: ['ringback try'],
  positionals: { WORD: 'any' },
  flags: {
    note: { kind: 'text', says: 'a text', placeholder: 'TEXT', isRepeatable: true },
    limit: { kind: 'count', says: 'a number', placeholder: 'N', min: 1, max: 100 },
    state: { kind: 'choice', says: 'one of', placeholder: 'STATE', choices: ['dead', 'delivered'] },
    all: { kind: 'switch', says: 'on or not' },
  },
  takesSettings: true,
  json: 'nothing',
  examples: [],
  run: async () => {},
};

const read = (...args: string[]): Invocation => readCall(command, args, { RINGBACK_PORT: '1' });

function refused(message: string, ...args: string[]): void {
  assert.throws(
    () => read(...args),
    (error) => error instanceof CliFailure && error.exitCode === 2 && error.message === message,
  );
}

describe('readCall', () => {
  it('returns positionals, texts, numbers, choices and switches', () => {
    const call = read(
      'one',
      '--note',
      'a',
      '--note=b',
      '--limit',
      '7',
      '--state=dead',
      '--all',
      'two',
    );
    assert.deepEqual(call.positionals, ['one', 'two']);
    assert.deepEqual([call.text('note'), call.texts('note')], ['b', ['a', 'b']]);
    assert.deepEqual([call.count('limit'), call.text('state')], [7, 'dead']);
    assert.deepEqual([call.isOn('all'), call.isJson], [true, false]);
    const none = read();
    assert.deepEqual(
      [none.text('note'), none.texts('note'), none.count('limit')],
      [undefined, [], undefined],
    );
    assert.equal(read('--json').isJson, true);
  });

  it('accepts anything after --, a lone - as a value, and a dash after =', () => {
    assert.deepEqual(read('--', '--all', '-x').positionals, ['--all', '-x']);
    assert.equal(read('--note', '-').text('note'), '-');
    assert.equal(read('--note=-1').text('note'), '-1');
    assert.equal(read('--note', '').text('note'), '');
  });

  it('overlays settings on the environment; a switch needs no value; contracts accumulate', () => {
    assert.equal(read().env['RINGBACK_PORT'], '1');
    const { env } = read('--port', '2', '--lenient', '--contract', 'a', '--contract', 'b');
    assert.deepEqual(
      [env['RINGBACK_PORT'], env['RINGBACK_LENIENT'], env['RINGBACK_CONTRACT']],
      ['2', 'on', 'a\nb'],
    );
    assert.equal(read('--lenient', 'off').env['RINGBACK_LENIENT'], 'off');
    assert.equal(read('--lenient').env['RINGBACK_LENIENT'], 'on');
  });

  it('refuses unknown flags and suggests the nearest one', () => {
    refused('Cannot read "--note-": did you mean "--note"?', '--note-', 'x');
    refused('Cannot read "--stat": did you mean "--state"?', '--stat=dead');
    refused('Cannot read "-a": unknown option', '-a');
    refused('Cannot read "--__proto__": unknown option', '--__proto__');
    refused('Cannot read --state "dad": did you mean "dead"?', '--state', 'dad');
    refused('Cannot read --state "x": expected dead or delivered', '--state', 'x');
    refused('Cannot read --note: the value is missing', '--note');
    refused('Cannot read --note: the value is missing', '--note', '--all');
    refused('Cannot set --all to "no": the option takes no value', '--all=no');
    for (const value of ['0', '101', '7.5', '1e2', ' 7', 'x', '']) {
      refused(`Cannot read --limit "${value}": expected a number from 1 to 100`, '--limit', value);
    }
  });

  it('refuses positionals if a command takes none, except with --help', () => {
    const { positionals: _none, ...wordless } = command;
    const message = 'Cannot try "now": the command takes options only';
    assert.throws(() => readCall(wordless, ['now'], {}), { message });
    assert.equal(readCall(wordless, ['now', '--help'], {}).wantsHelp, true);
    assert.equal(readCall(wordless, ['-h'], {}).wantsHelp, true);
  });
});
