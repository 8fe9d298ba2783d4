// A real Chromium for tests: the one that npm ci installs, or the one that TEST_BROWSER names. It can only reach
// this machine.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import packed from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

/** Called once per test file: it takes 0.1 s; the first call on a machine unpacks the program in 3 s. */
export async function launch(): Promise<Browser> {
  const executablePath = process.env['TEST_BROWSER'] ?? (await unpacked());
  try {
    const args = [...plainArgs, ...lonelyArgs];
    return await chromium.launch({ executablePath, args, env: envFor(executablePath) });
  } catch (error) {
    throw new Error(
      `Cannot start Chromium "${executablePath}": ${whatIsMissing(executablePath)}expected Linux on x64, ` +
        'or the path of another Chromium in TEST_BROWSER',
      { cause: error },
    );
  }
}

/** Uses the bundled libraries only if the machine lacks some. */
function envFor(executablePath: string): NodeJS.ProcessEnv {
  if (whatIsMissing(executablePath) === '') return process.env;
  return { ...process.env, LD_LIBRARY_PATH: join(dirname(executablePath), 'al2023', 'lib') };
}

/** Without updates, telemetry and DNS lookups. */
const lonelyArgs = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
];

/**
 * Not the defaults of the package: they disable the same-origin policy, use a single process, which ends with
 * the first closed context, and a software GPU, which sometimes stalled for 4 s (a round through all pages: 45 s,
 * without it 8).
 */
const plainArgs = ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'];

/**
 * The package unpacks into the temporary folder and assumes that existing files are complete. So it
 * unpacks into an empty folder, which is then moved into place as a whole.
 */
async function unpacked(): Promise<string> {
  const manifest = join(import.meta.dirname, '../../node_modules/@sparticuz/chromium/package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const place = join(tmpdir(), `ringback-chromium-${version}-${process.getuid?.() ?? 0}`);
  if (!existsSync(place)) {
    const fresh = await mkdtemp(`${place}-`);
    await unpackInto(fresh);
    try {
      await rename(fresh, place);
    } catch (error) {
      await rm(fresh, { recursive: true });
      if (!existsSync(place)) throw error; // Otherwise another test file was faster.
    }
  }
  return join(place, 'chromium');
}

/** Includes libraries that a machine without a desktop may lack, which the package adds only on AWS Lambda. */
async function unpackInto(folder: string): Promise<void> {
  const before = { ...process.env };
  Object.assign(process.env, { TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' });
  try {
    await packed.executablePath();
  } finally {
    for (const name of ['TMPDIR', 'AWS_LAMBDA_JS_RUNTIME']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

/** Libraries that the machine lacks, as reported by the linker. */
function whatIsMissing(path: string): string {
  try {
    const lines = execFileSync('ldd', [path], { encoding: 'utf8' }).split('\n');
    const names = lines.filter((line) => line.includes('not found')).map((line) => line.trim());
    return names.length === 0 ? '' : `${names.join(', ')}; `;
  } catch {
    return ''; // Without ldd, the cause of the error must suffice.
  }
}
