// Runs `ringback doctor` in this process; returns its findings.
import assert from 'node:assert/strict';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import type { Env } from './ringback-process.ts';
import { runHere } from './in-process.ts';

export interface Examination {
  findings: Finding[];
  /** The printed output. */
  text: string;
  failure: string | undefined;
  /** The findings of a check, as `state: message`. */
  of: (check: string) => string[];
}

/** Avoids DNS lookups and a fixed port, unless the test sets them. */
const quiet = { RINGBACK_PUBLIC_URL: 'http://localhost:8080', RINGBACK_PORT: '0' };

export async function examine(env: Env): Promise<Examination> {
  const { out: text, failure } = await runDoctor(env, ['--json']);
  const findings = JSON.parse(text) as Finding[];
  const failures = findings.filter(({ state }) => state === 'failed').length;
  assert.equal(failure !== undefined, failures > 0, 'it fails if and only if a check failed');
  for (const { state, message, remedy } of findings) {
    assert.equal(state === 'ok', remedy === null, message);
  }
  const of = (check: string): string[] =>
    findings
      .filter((one) => one.check === check)
      .map(({ state, message }) => `${state}: ${message}`);
  return { findings, text, failure, of };
}

export async function runDoctor(
  env: Env,
  args: readonly string[],
): Promise<{ out: string; failure: string | undefined }> {
  const { code, out, err } = await runHere(['doctor', ...args], { env: { ...quiet, ...env } });
  assert.ok(code === 0 ? err === '' : code === 1, err);
  return { out, failure: code === 0 ? undefined : failureIn(err, args.includes('--json')) };
}

function failureIn(err: string, isJson: boolean): string {
  if (!isJson) return err.trimEnd();
  const { error } = JSON.parse(err) as { error: { message: string } };
  return error.message;
}
