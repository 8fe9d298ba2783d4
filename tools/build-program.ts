// Bundles the program into dist if the source has changed, before a start and a pack. Node takes
// half a millisecond to load a file, and a service has three hundred in its main thread alone
// (decision 0020). Dependencies stay packages, so that users of Ringback can replace a vulnerable
// one.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { readDocument } from '../src/contract/document/document.ts';
import { buildIfChanged, root } from './build-if-changed.ts';

const dist = join(root, 'dist');
/** Written last: without it there is no bundle. */
const ownContract = join(dist, 'openapi.json');
/**
 * The program and its threads. Each thread loads a single file, which includes the code it shares
 * with others.
 */
const entries = [
  'src/main.ts',
  'src/api/pages/pages-thread.ts',
  'src/store/sqlite/thread/write-thread.ts',
  'src/store/sqlite/thread/read-thread.ts',
  'src/store/sqlite/backup/backup-worker.ts',
];

if (import.meta.main) {
  if (existsSync(join(root, 'node_modules', 'rolldown'))) await buildProgram();
  else await runTheSource();
}

export async function buildProgram(): Promise<void> {
  await buildIfChanged({
    what: 'The program',
    sources: ['src/**/*.{ts,css}', 'openapi.yaml', 'tools/build-program.ts'],
    built: 'dist/openapi.json',
    note: 'node_modules/.cache/ringback-built/program',
    lock: '.building',
    build: bundleProgram,
  });
}

export async function bundleProgram(): Promise<void> {
  // Removes files whose source was deleted or renamed.
  for (const path of globSync('dist/*.*', { cwd: root })) await rm(join(root, path));
  for (const entry of entries) await bundle(entry);
  for (const path of globSync('src/**/*.css', { cwd: root })) {
    await cp(join(root, path), join(dist, basename(path)));
  }
  const contract = readDocument(join(root, 'openapi.yaml'));
  await writeFile(ownContract, JSON.stringify(contract.root));
}

async function bundle(entry: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  await using made = await rolldown({
    cwd: root,
    input: join(root, entry),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
  });
  // All in one folder: bundles and copied files find each other by relative path.
  await made.write({ dir: dist, entryFileNames: '[name].js', chunkFileNames: '[name].js' });
}

/**
 * Without the development dependencies nothing is bundled. The program still runs, a second later.
 */
async function runTheSource(): Promise<void> {
  await mkdir(dist, { recursive: true });
  await rm(ownContract, { force: true });
  const main = join(dist, 'main.js');
  const text = "import '../src/main.ts';\n";
  // Another process may be starting from it.
  if (!existsSync(main) || readFileSync(main, 'utf8') !== text) await writeFile(main, text);
}
