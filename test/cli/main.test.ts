// The command line itself: its overview, and its answers to mistakes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { commands } from '../../src/cli/program/commands.ts';
import { runChild } from './ringback-process.ts';
import { runHere } from './in-process.ts';
import { isColoured, noTerminal, runOnTerminal } from './pty.ts';

const root = join(import.meta.dirname, '..', '..');

describe('ringback', () => {
  it('lists its commands with one line each, on one screen', async () => {
    const { code, out, err } = await runHere([]);
    assert.deepEqual([code, err], [0, '']);
    for (const { name, summary } of commands)
      assert.match(out, new RegExp(`^  ${name} .*${summary}`, 'm'));
    const lines = out.trimEnd().split('\n');
    assert.ok(lines.length <= 33, `${lines.length} lines`);
    for (const line of lines) assert.ok(line.length <= 80, line);
    for (const word of ['--help', '-h', 'help']) assert.equal((await runHere([word])).out, out);
  });

  it('prints the version of the package, also as a process', async () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
    const { code, out, err } = await runChild(['--version']);
    assert.deepEqual([code, out, err], [0, `${Reflect.get(manifest, 'version')}\n`, '']);
  });

  it('suggests the command that was meant, also as a process', async () => {
    const text =
      'Cannot run "delivries": did you mean "deliveries"?\nRun "ringback --help" for usage\n';
    assert.deepEqual(await runChild(['delivries']), { code: 2, out: '', err: text });
  });

  for (const [words, message] of [
    ['serv', 'Cannot run "serv": did you mean "serve"?'],
    ['constructor', 'Cannot run "constructor": unknown command'],
    ['help lisen', 'Cannot run "lisen": did you mean "listen"?'],
    ['--port 1', 'Cannot run "--port": expected a command first, as in ringback serve'],
  ] as const) {
    it(`explains the mistake in "ringback ${words}", and refers to the help`, async () => {
      const { code, out, err } = await runHere(words.split(' '));
      assert.deepEqual([code, out, err], [2, '', `${message}\nRun "ringback --help" for usage\n`]);
    });
  }

  for (const [words, message] of [
    ['serve --prot 1', 'Cannot read "--prot": did you mean "--port"?'],
    ['serve --quota-paylod 1', 'Cannot read "--quota-paylod": did you mean "--quota-payload"?'],
    ['serve --frobnicate', 'Cannot read "--frobnicate": unknown option'],
    ['serve -x', 'Cannot read "-x": unknown option'],
    ['serve --port', 'Cannot read --port: the value is missing'],
    ['serve --port --data x', 'Cannot read --port: the value is missing'],
    ['serve --json=yes', 'Cannot set --json to "yes": the option takes no value'],
    ['serve now', 'Cannot serve "now": the command takes options only'],
    ['migrate --chekc', 'Cannot read "--chekc": did you mean "--check"?'],
    ['key lst', 'Cannot run ringback key: found "lst", did you mean "list"?'],
    ['key', 'Cannot run ringback key: found nothing, expected list, create, rotate or revoke'],
    ['key create --name x --scopes raed', 'Cannot grant scope "raed": did you mean "read"?'],
    [
      'listen --listen-port 65536',
      'Cannot read --listen-port "65536": expected a number from 0 to 65535',
    ],
    [
      'listen --url nowhere --key x',
      'Cannot read --url "nowhere": expected an http or https URL without query or fragment',
    ],
    ['check', 'Cannot check: no FILE given, expected at least one OpenAPI document'],
    ['backup', 'Cannot back up: found nothing, expected one FILE'],
  ] as const) {
    it(`explains the mistake in "ringback ${words}"`, async () => {
      const [name = ''] = words.split(' ');
      const { code, out, err } = await runHere(words.split(' '));
      assert.deepEqual(
        [code, out, err],
        [2, '', `${message}\nRun "ringback ${name} --help" for usage\n`],
      );
    });
  }

  it('has a flag for every setting, and reports all invalid ones at once', async () => {
    const { settingFlags } = await import('../../src/cli/declare/flags.ts');
    const args = settingFlags.flatMap(({ flag }) => [`--${flag}`, '\u0001 no such value']);
    const { code, err } = await runHere(['serve', ...args]);
    assert.equal(code, 2);
    assert.match(err, /Cannot read --port "\\u\{1\} no such value"/);
    assert.match(err, /Cannot read --retry/);
  });

  it('reports a failure as JSON with --json', async () => {
    const { code, out, err } = await runHere(['migrat', '--json']);
    const message = 'Cannot run "migrat": did you mean "migrate"?';
    assert.deepEqual([code, out, JSON.parse(err)], [2, '', { error: { message } }]);
  });
});

describe('ringback on a terminal', { skip: noTerminal }, () => {
  it('shows the overview on one screen, in colours', async () => {
    const { code, screen, history, raw } = await runOnTerminal([], { columns: 80, rows: 35 });
    assert.equal(code, 0);
    assert.equal(screen[0], history[0], 'nothing has scrolled off the screen');
    assert.match(screen[0] ?? '', /^Ringback \S+: a subscription and callback service\.$/);
    assert.ok(isColoured(raw));
  });

  it('has no colours with NO_COLOR, and breaks no words on a narrow terminal', async () => {
    const env = { NO_COLOR: '1' };
    const { raw, history } = await runOnTerminal(['serve', '--help'], { env, columns: 60 });
    assert.ok(!isColoured(raw));
    const text = history.join(' ').replaceAll(/\s+/g, ' ');
    assert.match(text, /finishes in-flight requests, then stops; a second Ctrl\+C stops at once/);
  });

  it('shows a mistake in red', async () => {
    const { code, screen, raw } = await runOnTerminal(['sevre'], { columns: 100 });
    assert.equal(code, 2);
    assert.deepEqual(screen, [
      'Cannot run "sevre": did you mean "serve"?',
      'Run "ringback --help" for usage',
    ]);
    assert.match(raw, /\[31mCannot run/);
  });
});
