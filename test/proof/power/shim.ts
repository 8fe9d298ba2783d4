// Compiles the shim that sees what a process does to the disk. It needs Linux and a C compiler; where they
// are missing, what rests on it is left out, and the reason is said.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export type Shim = { kind: 'ready'; path: string } | { kind: 'missing'; why: string };

export function compileShim(folder: string): Shim {
  if (process.platform !== 'linux') return { kind: 'missing', why: 'it is made for Linux' };
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
