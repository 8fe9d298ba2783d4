// Negative controls of every part but the simulation: the product, broken on purpose, and the check that
// has to see it. What nobody sees is a violation of the proof itself.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../finding.ts';
import { changedSource, type SourceChange } from './change-source.ts';

export interface LookControl {
  name: string;
  changes: readonly SourceChange[];
  /** How that begins which has to be seen: another violation says nothing about the one that is meant. */
  breaks: RegExp;
  look: (changes: readonly SourceChange[]) => Promise<Finding>;
}

export interface LookResult {
  name: string;
  /** What was seen; undefined: nobody noticed. */
  seen: string | undefined;
  tookMs: number;
  /** Why it was not tried. */
  skipped?: string;
  /** Why nothing was seen: the look itself came to nothing. */
  failed?: string;
}

/** A look that throws has seen nothing, and says why: the other controls have their turn all the same. */
export async function runLookControl(control: LookControl): Promise<LookResult> {
  const beganMs = performance.now();
  const looked = await lookOnce(control).catch((error: unknown) => ({
    seen: undefined,
    failed: String(error),
  }));
  return { name: control.name, ...looked, tookMs: Math.round(performance.now() - beganMs) };
}

/** Where only a part of a look was skipped, the rest may have seen it. */
async function lookOnce({
  changes,
  breaks,
  look,
}: LookControl): Promise<Pick<LookResult, 'seen' | 'skipped'>> {
  const { violations, skipped } = await look(changes);
  const seen = violations.find((one) => breaks.test(one));
  return skipped === undefined || seen !== undefined ? { seen } : { seen, skipped };
}

/**
 * A look for checks that run in the process of the product: `file` is a program that prints its finding
 * as JSON, and it is started with the changed source.
 */
export function lookInProcess(
  file: URL,
  args: readonly string[] = [],
): (changes: readonly SourceChange[]) => Promise<Finding> {
  return async (changes) => {
    const env = { ...process.env, ...changedSource(changes) };
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(process.execPath, [fileURLToPath(file), ...args], {
      env,
      stdio: [...stdio],
    });
    const [out, err, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise((resolve) => child.on('close', resolve)),
    ]);
    if (code !== 0) throw new Error(`A control did not run, exit ${String(code)}: ${err}`);
    return JSON.parse(out) as Finding;
  };
}
