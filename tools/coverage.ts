// `npm run coverage -- FOLDER`: runs the OpenAPI documents of a folder: each is checked, served, subscribed
// to, published to and unsubscribed from, and writes docs/openapi-coverage.md.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpus, corpusFiles, withRunner } from '../test/contract/corpus/run-corpus.ts';
import type { DocumentResult } from '../test/contract/corpus/run-document.ts';
import { machine } from '../test/proof/report/place.ts';
import { coveragePage } from './coverage-page.ts';

const folder = process.argv[2] ?? corpus;
const root = join(import.meta.dirname, '..');
const files = corpusFiles(folder);
if (files.length === 0) {
  console.error(`Cannot find a document in ${folder}`);
  process.exitCode = 1;
} else {
  const cpuSeconds: number[] = [];
  const results: DocumentResult[] = [];
  await withRunner(folder, async (run) => {
    for (const file of files) {
      cpuSeconds.push(cpuSecondsOf(file));
      results.push(await run(file));
      console.error(file);
    }
  });
  const page = coveragePage(results, { cpuSeconds, machine: machine() });
  writeFileSync(join(root, 'docs', 'openapi-coverage.md'), page);
}

/** Of `ringback check` in a process of its own, which writes at its exit what it used. */
function cpuSecondsOf(file: string): number {
  const report = `data:text/javascript,${encodeURIComponent(
    'process.on("exit", () => { const { user, system } = process.cpuUsage();' +
      ' process.stderr.write("\\nCPU " + (user + system)); });',
  )}`;
  const args = ['--import', report, join(root, 'src', 'main.ts'), 'check', file];
  const env = { ...process.env, RINGBACK_CONTRACT_ROOT: folder };
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  const [, micros] = /\nCPU (\d+)$/u.exec(stderr) ?? [];
  if (micros === undefined) throw new Error(`Cannot measure the check of ${file}: ${stderr}`);
  return Number(micros) / 1e6;
}
