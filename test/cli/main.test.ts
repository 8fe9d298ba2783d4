// The command line itself: what it offers, and what it says to a mistake.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settings } from '../../src/config/settings.ts';
import { runChild } from './child.ts';

const root = join(import.meta.dirname, '..', '..');

describe('ringback', () => {
  for (const args of [[], ['--help'], ['help'], ['serve', '--help'], ['backup', '--help']]) {
    it(`shows its usage with "${args.join(' ')}"`, async () => {
      const { code, out, err } = await runChild(args);
      assert.deepEqual([code, err], [0, '']);
      const commands = ['serve', 'listen', 'key list', 'migrate', 'backup'];
      for (const words of ['Usage:', ...commands.map((one) => `ringback ${one}`), '--version']) {
        assert.ok(out.includes(words), words);
      }
    });
  }

  it('says its version, the one of the package', async () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
    const { code, out, err } = await runChild(['--version']);
    assert.deepEqual([code, out, err], [0, `${Reflect.get(manifest, 'version')}\n`, '']);
  });

  it('names an unknown command and shows the known ones', async () => {
    for (const name of ['serv', '--port', 'constructor']) {
      const { code, out, err } = await runChild([name]);
      assert.deepEqual([code, out], [1, '']);
      assert.ok(err.startsWith(`Cannot run "${name}": expected`), err);
      assert.match(err, /Usage:/);
    }
  });

  it('names an unknown flag, one without a value, and a word too many', async () => {
    const mistakes: [string[], RegExp][] = [
      [['serve', '--prot', '1'], /--prot/],
      [['key', 'list', '--colour', 'red'], /--colour/],
      [['serve', '--port'], /--port/],
      [['serve', 'now'], /Cannot serve "now": expected flags only/],
    ];
    for (const [args, pattern] of mistakes) {
      const { code, out, err } = await runChild(args);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(err, pattern);
      assert.ok(!/^\s+at /m.test(err), `no stack: ${err}`);
    }
  });

  it('knows a flag for every setting', async () => {
    const flags = Object.values(settings).map(({ env }) =>
      env
        .replace(/^RINGBACK_/, '')
        .toLowerCase()
        .replaceAll('_', '-'),
    );
    const args = flags.flatMap((flag) => [`--${flag}`, '\u0001 no such value']);
    const { code, err } = await runChild(['serve', ...args]);
    assert.equal(code, 1);
    assert.ok(!/Unknown option/.test(err), err);
    assert.match(err, /Cannot read RINGBACK_PORT/);
  });
});
