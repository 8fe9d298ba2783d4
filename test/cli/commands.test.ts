// Every command documents itself, its flags and its --json, with valid examples.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../src/cli/declare/command.ts';
import { commands } from '../../src/cli/program/commands.ts';
import { settingFlags } from '../../src/cli/declare/flags.ts';
import { readCall } from '../../src/cli/program/read-call.ts';
import { runHere } from './in-process.ts';

const wanted =
  'serve listen publish event-types types subscribe unsubscribe subscriptions deliveries events ' +
  'retry replay customers portal key audit check migrate backup doctor';

describe('the list of commands', () => {
  it('contains each command once', () => {
    const names = commands.map(({ name }) => name);
    assert.deepEqual(names.toSorted(), wanted.split(' ').toSorted());
  });
});

describe('ringback --help', () => {
  it('is as narrow as the terminal', async () => {
    const { out } = await runHere(['--help'], { columns: 40 });
    // oxlint-disable-next-line no-control-regex -- colours have no width
    const lines = out.replaceAll(/\u001b\[\d+m/g, '').split('\n');
    for (const line of lines) assert.ok(line.length <= 40, line);
    for (const { name } of commands) assert.ok(lines.some((line) => line.startsWith(`  ${name} `)));
  });
});

for (const command of commands) {
  describe(`ringback ${command.name} --help`, () => {
    it('fits, and explains every flag and the output of --json', async () => {
      const { code, out, err } = await runHere([command.name, '--help']);
      assert.deepEqual([code, err], [0, '']);
      const overviewLine = `  ${'subscriptions'.padEnd(13)}  ${command.summary}`;
      assert.ok(overviewLine.length <= 80, `${overviewLine.length}: ${overviewLine}`);
      for (const line of out.split('\n')) {
        assert.ok(line.length <= 100 || isExample(command, line), line);
      }
      for (const name of [...Object.keys(command.flags), 'json', 'help']) {
        assert.match(out, new RegExp(`^  --${name}( |$)`, 'm'), name);
      }
      assert.ok(out.includes('--json'));
      assert.doesNotMatch(out, /(; can be\s+repeated){2}/);
      assert.ok(command.json.length > 0);
      assert.equal((await runHere(['help', command.name])).out, out);
      assert.equal((await runHere([command.name, '-h'])).out, out);
    });

    it('is as narrow as the terminal', async () => {
      const { out } = await runHere([command.name, '--help'], { columns: 60 });
      // oxlint-disable-next-line no-control-regex -- colours have no width
      const lines = out.replaceAll(/\u001b\[\d+m/g, '').split('\n');
      for (const line of lines) assert.ok(line.length <= 60 || isExample(command, line), line);
    });

    it('uses only known flags in its usage', () => {
      const known = new Set([...Object.keys(command.flags), 'SETTING']);
      if (command.takesSettings) for (const { flag } of settingFlags) known.add(flag);
      for (const [, flag = ''] of command.usage.join(' ').matchAll(/--([\w-]+)/g)) {
        assert.ok(known.has(flag), flag);
      }
      for (const line of command.usage)
        assert.ok(line.startsWith(`ringback ${command.name}`), line);
    });

    it('has valid examples', () => {
      assert.ok(command.examples.length > 0);
      for (const { line } of command.examples) {
        const [, words] = new RegExp(`ringback ${command.name}([^|<>]*)`).exec(line) ?? [];
        assert.ok(words !== undefined, line);
        assert.equal(readCall(command, shellWords(words), {}).wantsHelp, false);
      }
    });
  });
}

function isExample({ examples }: Command, text: string): boolean {
  return examples.some(({ line }) => line === text.trim());
}

/** Splits a line like a shell: words, and text in single or double quotes. */
function shellWords(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}
