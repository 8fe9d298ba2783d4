// Runs the real service in a network namespace where every address leads to a canary. Nothing can leave the namespace,
// and it disappears with its last process.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';

export interface NamespaceOptions {
  /** Use every n-th URL of the corpus. */
  step: number;
  /** Names per scenario. */
  names: number;
  /** Scenarios; all quick ones by default. */
  only?: readonly string[];
  seed: number;
  /** `closed`: starts the service once instead of four times, to save time. */
  phases: 'all' | 'closed';
  /** Changes to the source, for a control. */
  changes?: readonly SourceChange[];
}

const part = 'network of its own';
const inside = fileURLToPath(new URL('./inside-namespace.ts', import.meta.url));

export async function proveNamespace(options: NamespaceOptions): Promise<Finding> {
  const why: string[] = [];
  // As an unprivileged user with a user namespace, or as root.
  for (const flags of ['-rn', '-n']) {
    const able = await run('unshare', [flags, 'true']);
    if (able.code !== 0) {
      why.push(`unshare ${flags}: ${able.err.trim()}`);
      continue;
    }
    const args = [flags, process.execPath, inside, JSON.stringify(options)];
    const { code, out, err } = await run('unshare', args);
    if (code !== 0) throw new Error(`Cannot run in a network namespace: exit code ${code}: ${err}`);
    return { part, ...(JSON.parse(out) as Omit<Finding, 'part'>) };
  }
  return { part, figures: {}, violations: [], skipped: why.join('; ') };
}

interface Ran {
  code: number | string;
  out: string;
  err: string;
}

async function run(command: string, args: readonly string[]): Promise<Ran> {
  const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<Pick<Ran, 'code'> & { why: string }>((resolve) => {
    child.on('error', (error) => resolve({ code: 'none', why: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? String(signal), why: '' }));
  });
  const [out, err, { code, why }] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  return { code, out, err: `${why}${err}` };
}
