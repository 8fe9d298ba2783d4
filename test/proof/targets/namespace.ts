// The real service, alone in a network of its own where every address of the world leads to a canary: a
// namespace, which is gone with its last process and from which nothing gets out.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';

export interface NamespaceOptions {
  /** Only each so-manieth URL of the corpus. */
  step: number;
  /** Names of each scenario. */
  names: number;
  /** Scenarios; by default all that are quick. */
  only?: readonly string[];
  seed: number;
  /** `closed`: one start of the service instead of four, where time is short. */
  phases: 'all' | 'closed';
  /** For a product that is meant to be broken. */
  changes?: readonly SourceChange[];
}

const part = 'network of its own';
const inside = fileURLToPath(new URL('./inside-namespace.ts', import.meta.url));

export async function proveNamespace(options: NamespaceOptions): Promise<Finding> {
  const why: string[] = [];
  // As somebody without rights, who may be root in a namespace of users; or as root.
  for (const flags of ['-rn', '-n']) {
    const able = await run('unshare', [flags, 'true']);
    if (able.code !== 0) {
      why.push(`unshare ${flags}: ${able.err.trim()}`);
      continue;
    }
    const args = [flags, process.execPath, inside, JSON.stringify(options)];
    const { code, out, err } = await run('unshare', args);
    if (code !== 0) throw new Error(`The proof in a namespace did not run, exit ${code}: ${err}`);
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
