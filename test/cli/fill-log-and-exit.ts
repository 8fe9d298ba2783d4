// Logs more than any pipe holds, and exits, with the log of the service.
import { openLog } from '../../src/cli/serve/log.ts';
import { realWorld } from '../../src/core/base/world.ts';

process.stderr.on('error', () => undefined); // The program does the same, which makes the pipe non-blocking.
const look = { level: 'info', format: 'json', isTerminal: false, isColoured: false } as const;
await using logging = openLog(look, realWorld());
const stay = setInterval(() => undefined, 1_000);
await new Promise((resolve) => {
  process.once('SIGTERM', resolve);
  process.stdout.write('ready\n');
});
clearInterval(stay);
for (let line = 0; line < 2_000; line += 1)
  logging.log.info({ line, text: 'some words '.repeat(100) });
