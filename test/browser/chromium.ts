// A real Chromium for tests: the one that comes with npm ci, or the one that TEST_BROWSER names. It reaches
// nothing but this machine.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packed from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

/** Once for a test file: it takes 0.1 s, and the first one on a machine unpacks the program, 3 s. */
export async function launch(): Promise<Browser> {
  const executablePath = process.env['TEST_BROWSER'] ?? (await unpacked());
  try {
    return await chromium.launch({ executablePath, args: [...plainArgs, ...lonelyArgs] });
  } catch (error) {
    throw new Error(
      `Cannot start Chromium "${executablePath}": ${whatIsMissing(executablePath)}expected Linux on x64, ` +
        'or the path of another Chromium in TEST_BROWSER',
      { cause: error },
    );
  }
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
 * The package unpacks into the temporary folder and takes what is there for complete. So it is given an
 * empty one, and what it made is moved to its place: whoever finds it there finds all of it.
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

async function unpackInto(folder: string): Promise<void> {
  const { TMPDIR: before } = process.env;
  process.env['TMPDIR'] = folder;
  try {
    await packed.executablePath();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
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
