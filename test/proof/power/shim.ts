// Compiles the shim that intercepts disk calls. It needs Linux and a C compiler; without them, the tests that use it
// are skipped, with the reason.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export type Shim = { kind: 'ready'; path: string } | { kind: 'missing'; why: string };

export function compileShim(folder: string): Shim {
  if (process.platform !== 'linux') return { kind: 'missing', why: 'the shim needs Linux' };
  const path = join(folder, 'shim.so');
  const source = join(import.meta.dirname, 'shim.c');
  const { error, status, stderr } = spawnSync(
    'cc',
    ['-O1', '-shared', '-fPIC', '-o', path, source, '-ldl', '-lpthread'],
    { encoding: 'utf8' },
  );
  if (error !== undefined)
    return { kind: 'missing', why: `there is no C compiler: ${error.message}` };
  return status === 0 ? { kind: 'ready', path } : { kind: 'missing', why: stderr };
}
