// One part of the proof, or its controls, in a process of its own. One that dies or does not end has failed.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Entry } from '../entries.ts';
import type { EntryResult } from '../run-entry.ts';

export interface Job {
  entry: Entry;
  /** Its negative controls, instead of the part itself. */
  breaks: boolean;
}

export interface JobResult extends EntryResult {
  tookMs: number;
}

export interface JobOptions {
  isSmall: boolean;
  seed: string;
  say: (line: string) => void;
}

const jobMsMax = 20 * 60_000;
/** Of one that waits for all others. */
const patientMsMax = 60 * 60_000;
const program = join(import.meta.dirname, '..', 'run-entry.ts');

/** Its controls are short, and wait in line. */
export function isPatientJob({ entry, breaks }: Job): boolean {
  return entry.isPatient === true && !breaks;
}

export async function runJob(job: Job, { isSmall, seed, say }: JobOptions): Promise<JobResult> {
  const name = `${job.entry.part.name}${job.breaks ? ', broken on purpose' : ''}`;
  const args = [program, '--part', job.entry.part.name, '--seed', seed];
  if (isSmall) args.push('--small');
  if (job.breaks) args.push('--breaks');
  const beganMs = performance.now();
  const seconds = (): string => ((performance.now() - beganMs) / 1000).toFixed(0);
  const isPatient = isPatientJob(job);
  say(`${name}: begins`);
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: isPatient ? patientMsMax : jobMsMax,
    killSignal: 'SIGKILL',
  });
  if (isPatient && child.pid !== undefined) {
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
  }
  createInterface(child.stderr).on('line', (line) => say(`${name}: ${line}`));
  const [out, end] = await Promise.all([
    text(child.stdout),
    new Promise<string | undefined>((resolve, reject) => {
      child.on('error', reject).on('close', (code, signal) => {
        resolve(code === 0 ? undefined : `ended with ${signal ?? `exit ${code}`}`);
      });
    }),
  ]);
  const tookMs = Math.round(performance.now() - beganMs);
  say(`${name}: ${end ?? 'done'} after ${seconds()} s`);
  if (end === undefined) return { ...(JSON.parse(out) as EntryResult), tookMs };
  return { findings: [{ part: name, figures: {}, violations: [end] }], controls: [], tookMs };
}
