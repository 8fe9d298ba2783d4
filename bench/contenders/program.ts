// The program that `npm start` runs in a checkout, built the same way; an older checkout runs its
// source.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const built = new Map<string, Promise<string>>();

/** Built once, so that later starts are timed without the build. */
export async function programOf(root: string): Promise<string> {
  const program = built.get(root) ?? build(root);
  built.set(root, program);
  return program;
}

async function build(root: string): Promise<string> {
  await promisify(execFile)('npm', ['run', '--silent', 'prestart'], { cwd: root });
  const manifest = readFileSync(join(root, 'package.json'), 'utf8');
  const [, main] = /"start": "node (\S+) serve"/.exec(manifest) ?? [];
  assert(main !== undefined, `${root} is not a checkout of Ringback`);
  return join(root, main);
}
