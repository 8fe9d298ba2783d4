// Loaded into the service that is attacked: appends to a file what a turn of the event loop took of the CPU, for each
// turn that took long. CPU of the main thread, because the wall clock of a busy machine says nothing.
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const path = process.env['PROOF_TURNS'];
const loggedMs = 5;

if (isMainThread && path !== undefined) {
  let before = process.threadCpuUsage();
  // Unreferenced: it runs once in each turn, and neither makes one nor keeps the process alive.
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= loggedMs) appendFileSync(path, `${ms}\n`);
    before = process.threadCpuUsage();
    setImmediate(look).unref();
  };
  setImmediate(look).unref();
}
