import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { runGroup } from './group.ts';

/** Starts a child that keeps both pipes open forever: they only close when it is killed. */
const leaves =
  "require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']," +
  " { stdio: 'inherit' });";
const netMs = 60_000;

describe('runGroup', () => {
  it('returns the output, and reports stderr line by line', async () => {
    const lines: string[] = [];
    const program = "console.error('one\\ntwo'); console.log('out')";
    const onLine = (line: string): void => void lines.push(line);
    const end = await runGroup({ args: ['-e', program], mostMs: netMs, onLine });
    assert.deepEqual(end, { out: 'out\n', failed: undefined });
    assert.deepEqual(lines, ['one', 'two']);
  });

  it('ends with its first process, kills the rest, and reports the exit code', async () => {
    const args = ['-e', `${leaves}process.exit(3)`];
    assert.equal((await runGroup({ args, mostMs: netMs })).failed, 'ended with exit 3');
  });

  it('kills the whole group after the time limit', async () => {
    const { failed } = await runGroup({ args: ['-e', leaves], mostMs: 300 });
    assert.equal(failed, 'did not end within 0.3 s');
  });

  it('kills the whole group when this process ends', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const program = JSON.stringify(`require('node:net').connect(${port}, '127.0.0.1')`);
    const file = JSON.stringify(new URL('./group.ts', import.meta.url).href);
    const us =
      `const { runGroup, endGroupsWithUs } = await import(${file}); endGroupsWithUs();` +
      `await runGroup({ args: ['-e', ${program}], mostMs: ${netMs} });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', us], { stdio: 'inherit' });
    const ended = once(child, 'close');
    const [socket] = (await once(server, 'connection')) as [Socket];
    const hungUp = once(socket.on('error', () => undefined).resume(), 'close');
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [143, null]);
    await hungUp;
    server.close();
  });
});
