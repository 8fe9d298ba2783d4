// Runs negative controls: each breaks the product on purpose, and a check must detect it. A control that is not
// detected counts as a violation.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Finding } from '../finding.ts';
import { changedSource, type SourceChange } from './change-source.ts';

export interface LookControl {
  name: string;
  changes: readonly SourceChange[];
  /** Matches the expected violation: any other one does not count. */
  breaks: RegExp;
  look: (changes: readonly SourceChange[]) => Promise<Finding>;
}

export interface LookResult {
  name: string;
  /** The violation that was detected; undefined if none was. */
  seen: string | undefined;
  tookMs: number;
  /** Why the control could not run on this machine. */
  skipped?: string;
  /** The error, if the check itself failed. */
  failed?: string;
}

/** A check that throws has detected nothing; its error is kept, and the other controls still run. */
export async function runLookControl(control: LookControl): Promise<LookResult> {
  const beganMs = performance.now();
  const looked = await lookOnce(control).catch((error: unknown) => ({
    seen: undefined,
    failed: String(error),
  }));
  return { name: control.name, ...looked, tookMs: Math.round(performance.now() - beganMs) };
}

/** If only a part of the check was skipped, the rest may still have detected the fault. */
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
 * For checks that run in the same process as the product: starts the program `file` with the changed source and
 * parses the finding that it prints as JSON.
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
    if (code !== 0) throw new Error(`Cannot run a control: exit code ${String(code)}: ${err}`);
    return JSON.parse(out) as Finding;
  };
}
