// Runs before `npm pack`: compiles src to dist, where every file stands at the same depth, so that what is found
// by a relative path (migrations, openapi.yaml, the console) is found from there too.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** What was deleted or renamed in the source must not stay in the package. */
rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
for (const path of globSync('**/*.css', { cwd: join(root, 'src') })) {
  cpSync(join(root, 'src', path), join(root, 'dist', path));
}
