// Runs before `npm pack`: bundles the program, and compiles the libraries file by file with their
// types.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './build-if-changed.ts';
import { bundleProgram } from './build-program.ts';

rmSync(join(root, 'dist'), { recursive: true, force: true });
await bundleProgram();
execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
