// Builds the console and the customer portal if it has changed: before a start, a test, a pack. Without
// the development dependencies the service runs without a console.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildIfChanged, root } from './build-if-changed.ts';

const vite = join(root, 'node_modules', '.bin', 'vite');

if (import.meta.main) {
  if (existsSync(vite)) await buildConsole();
  else console.log('The console is not built: that needs the development dependencies.');
}

export async function buildConsole(): Promise<void> {
  await buildIfChanged({
    what: 'The console',
    sources: ['console/*.*', 'console/{src,portal}/**/*.*', 'src/core/**/*.ts'],
    built: 'console/dist/portal.html',
    note: 'node_modules/.cache/ringback-built/console',
    lock: 'console/.building',
    build: async () => {
      // The first one empties the folder.
      for (const mode of ['production', 'portal']) {
        const args = ['build', 'console', '--mode', mode, '--logLevel', 'warn'];
        const { stdout, stderr } = await promisify(execFile)(vite, args, { cwd: root });
        process.stdout.write(`${stdout}${stderr}`);
      }
    },
  });
}
