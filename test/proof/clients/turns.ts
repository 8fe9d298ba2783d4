// Preloaded into the service under attack: appends the CPU time of each long turn of the event loop to a file. It is
// the CPU time of the main thread, because wall-clock time on a busy machine means nothing.
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const path = process.env['PROOF_TURNS'];
const loggedMs = 5;

if (isMainThread && path !== undefined) {
  let before = process.threadCpuUsage();
  // Unreferenced: it runs once per turn, without causing a turn or keeping the process alive.
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= loggedMs) appendFileSync(path, `${ms}\n`);
    before = process.threadCpuUsage();
    setImmediate(look).unref();
  };
  setImmediate(look).unref();
}
