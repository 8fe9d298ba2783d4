// A real Chromium for tests: the one that comes with npm ci, or the one that TEST_BROWSER names. It reaches
// nothing but this machine.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import packed from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

/** Once for a test file: it takes 0.1 s, and the first one on a machine unpacks the program, 3 s. */
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

/** The libraries that came with it are for machines that have none of their own. */
function envFor(executablePath: string): NodeJS.ProcessEnv {
  if (whatIsMissing(executablePath) === '') return process.env;
  return { ...process.env, LD_LIBRARY_PATH: join(dirname(executablePath), 'al2023', 'lib') };
}

/** No updates, no telemetry, no name of a host that anybody could ask for. */
const lonelyArgs = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
];

/**
 * Not the package's own: those switch off the same-origin policy, run all in one process, which ends with
 * the first context that is closed, and paint by a software GPU, which stood still for 4 s now and then (a
 * round through all pages: 45 s, without it 8).
 */
const plainArgs = ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'];

/**
 * The package unpacks into the temporary folder and takes existing files for complete. So it
 * unpacks into an empty folder, which is then moved into place: whatever is there is complete.
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
      if (!existsSync(place)) throw error; // Else another test file was faster.
    }
  }
  return join(place, 'chromium');
}

/** With the libraries that a machine without a desktop may lack: the package adds them on AWS Lambda only. */
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

/** A machine without a desktop may lack libraries; the linker knows which. */
function whatIsMissing(path: string): string {
  try {
    const lines = execFileSync('ldd', [path], { encoding: 'utf8' }).split('\n');
    const names = lines.filter((line) => line.includes('not found')).map((line) => line.trim());
    return names.length === 0 ? '' : `${names.join(', ')}; `;
  } catch {
    return ''; // No linker to ask: the cause says what there is to say.
  }
}
