// What `ringback serve` prints at its start, for a person at a terminal and for a program.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commands } from '../../src/cli/program/commands.ts';
import { runCommandLine } from '../../src/cli/program/run.ts';
import { version } from '../../src/core/base/package.ts';
import { data, newFolder, startChild, status, type Env } from './ringback-process.ts';
import { terminalOf } from './in-process.ts';
import { isColoured, noTerminal, startOnTerminal } from './pty.ts';

const plainConsole = /^ {2}console +http:\S+\/console +\(sign in with a key\)$/m;

/** Runs in this process, because the output of a child process goes to a pipe, not a terminal. */
async function inTerminal(env: Env, look: (greeting: string) => Promise<void>): Promise<void> {
  const greeting = Promise.withResolvers<string>();
  const stopped = Promise.withResolvers<void>();
  const terminal = terminalOf({
    out: greeting.resolve,
    err: (text) => assert.fail(text),
    columns: 100,
    env: { RINGBACK_PORT: '0', RINGBACK_LOG: 'silent', ...env },
    stopped: stopped.promise,
  });
  const served = runCommandLine(['serve'], terminal, commands);
  try {
    const ended = served.then(() => assert.fail('It ended without output'));
    await look(await Promise.race([greeting.promise, ended]));
  } finally {
    stopped.resolve();
    await served;
  }
}

async function ownKeys(url: string, headers: Record<string, string>): Promise<[{ id: string }]> {
  const response = await fetch(`${url}/keys`, { headers });
  const { items } = (await response.json()) as { items: [{ id: string }] };
  return items;
}

describe('the greeting of ringback serve', () => {
  it('prints a link to the console at each start in a terminal, which signs in once', async () => {
    await using folder = await newFolder();
    const signIn = async (greeting: string): Promise<string> => {
      const [, page = '', ticket] =
        /^ {2}console +(\S+)#ticket=([\w-]{43}) +\(signs in once/m.exec(greeting) ?? [];
      assert.match(page, /\/console$/);
      const body = JSON.stringify({ ticket });
      const headers = { 'content-type': 'application/json' };
      const call = { method: 'POST', headers, body };
      assert.equal(await status(`${page}/session`, call), 201);
      assert.equal(await status(`${page}/session`, call), 401);
      return page.replace(/\/console$/, '');
    };
    const key = 'chosen-for-a-terminal-'.padEnd(40, 'k');
    const env = data(folder, { RINGBACK_API_KEY: key });
    await inTerminal(env, async (greeting) => void (await signIn(greeting)));
    await inTerminal(env, async (greeting) => {
      const url = await signIn(greeting);
      const headers = { 'x-api-key': key };
      const [{ id }] = await ownKeys(url, headers);
      assert.equal(await status(`${url}/keys/${id}`, { method: 'DELETE', headers }), 204);
    });
    await inTerminal(env, async (greeting) => assert.match(greeting, plainConsole));
  });

  it(
    'greets a person in colours, with lines that can be pasted',
    { skip: noTerminal },
    async () => {
      await using folder = await newFolder();
      const args = ['serve', '--port', '0', '--data', folder.path];
      await using shown = startOnTerminal(args, { columns: 100 });
      await shown.says(
        /console +http:\S+#ticket=[\w-]{43} +\(signs in once, valid for an hour\)\n/,
      );
      const [line] = await shown.says(/^ {2}curl -X POST .*\/events .*\n/m);
      assert.match(line, /'\{"event":"order.created","payload":\{"message":"Order 42"\}\}'\n$/);
      await shown.says(/INFO +started/);
      shown.type('\u0003');
      assert.equal(await shown.ended, 0);
      assert.match(shown.text(), /Stopping: finishing in-flight requests\.\n/);
      assert.ok(isColoured(shown.raw()));
      const env = { NO_COLOR: '1' };
      await using plain = startOnTerminal(args, { columns: 60, env });
      await plain.says(/API key +unchanged\n/);
      await plain.says(/INFO +started/);
      plain.type('\u0003');
      assert.equal(await plain.ended, 0);
      assert.ok(!isColoured(plain.raw()));
    },
  );

  it('shows the targets that callbacks can reach, and what the pasted lines need behind a proxy', async () => {
    await using folder = await newFolder();
    await inTerminal(data(folder), async (greeting) => {
      assert.match(
        greeting,
        /^ {2}callbacks +can reach public addresses and loopback, because only/m,
      );
      assert.doesNotMatch(greeting, /The commands below need/);
    });
    const proxied = data(folder, { RINGBACK_PUBLIC_URL: 'https://hooks.example' });
    await inTerminal(proxied, async (greeting) => {
      assert.match(
        greeting,
        /^ {2}callbacks +can reach public addresses only, because RINGBACK_PUBLIC_URL is https:\/\/hooks\.example; set RINGBACK_ALLOW_TARGETS to change this$/m,
      );
      assert.match(greeting, /^The commands below need RINGBACK_ALLOW_TARGETS=loopback/m);
    });
  });

  it('prints one line of JSON with --json', async () => {
    await using folder = await newFolder();
    const start = async (): Promise<Record<string, unknown>> => {
      await using child = startChild(['serve', '--port', '0', '--json'], data(folder));
      const [line] = await child.says(/^\{.*\}\n/);
      const facts = JSON.parse(line) as Record<string, unknown>;
      assert.equal(await status(`${String(facts['url'])}/healthz`), 200);
      child.signal('SIGTERM');
      assert.equal(await child.ended, 0);
      assert.equal(child.out(), line, 'no other output');
      return facts;
    };
    const { url, appId, key, ...rest } = await start();
    assert.match(String(url), /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(String(appId), /^app_/);
    assert.match(String(key), /^rbk_/);
    assert.deepEqual(rest, { manageUrl: url, console: null, role: 'all', version });
    assert.equal((await start())['key'], null, 'it is shown once');
  });
});
