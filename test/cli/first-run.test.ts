// The first run: the lines that `ringback serve` prints, pasted into a shell.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { until } from '../e2e/stage.ts';
import { newFolder, serve, startChild } from './ringback-process.ts';

const run = promisify(execFile);

describe('the first run', () => {
  it('delivers with the three lines that serve prints', async (t) => {
    const hasCurl = await run('curl', ['--version']).then(
      () => true,
      () => false,
    );
    if (!hasCurl) {
      t.skip('curl is not installed');
      return;
    }
    await using folder = await newFolder();
    await using serving = await serve({ RINGBACK_DATA: folder.path, RINGBACK_LOG: 'silent' });
    await serving.says(/curl \S+\/deliveries .*\n/);
    const printed = serving.out();
    const lines = [...printed.matchAll(/^ {2}(curl .*)$/gm)].map(([, line = '']) => line);
    assert.equal(lines.length, 3);
    const [, args = ''] = /npm run -s ringback -- (listen .*)\n/.exec(printed) ?? [];
    const port = (await isFree(8081)) ? '8081' : '0';
    const words = args.split(' ').map((word) => word.replaceAll('"', ''));
    await using listening = startChild([...words, '--listen-port', port]);
    const [, url = ''] = await listening.says(/Listening on (\S+) for every event/);
    const paste = async (line = ''): Promise<string> => {
      const adapted = line.replace('http://127.0.0.1:8081/', url);
      const { stdout } = await run('sh', ['-c', `${adapted} -sS --fail-with-body`]);
      return stdout;
    };
    assert.match(await paste(lines[0]), /"subscriberId":"sub_/);
    const { eventId, deliveries } = JSON.parse(await paste(lines[1])) as Record<string, unknown>;
    assert.equal(deliveries, 2, 'the subscription of the listener, and the pasted one');
    // Both subscriptions deliver to the listener, which can read both secrets.
    const row = `order\\.created  ${String(eventId)}  signature ok\\n  {"message":"Order 42"}\\n`;
    await listening.says(new RegExp(`${row}[^]*${row}`));
    const seen = await until(
      async () => JSON.parse(await paste(lines[2])) as { items: { state: string }[] },
      ({ items }) => items.every(({ state }) => state === 'delivered'),
    );
    assert.equal(seen.items.length, 2);
  });
});

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
