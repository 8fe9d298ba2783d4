// Runs one part of the proof, or its controls, in a separate process. One that dies or does not end has failed.
import { join } from 'node:path';
import type { Entry } from '../entries.ts';
import type { EntryResult } from '../run-entry.ts';
import { runGroup, type GroupEnd } from './group.ts';

export interface Job {
  entry: Entry;
  /** Run the negative controls instead of the part itself. */
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
/** The time limit of a patient job, which runs at the lowest priority. */
const patientMsMax = 60 * 60_000;
const program = join(import.meta.dirname, '..', 'run-entry.ts');

/** The controls of a patient part are short, so they run like other jobs. */
export function isPatientJob({ entry, breaks }: Job): boolean {
  return entry.isPatient === true && !breaks;
}

export async function runJob(job: Job, { isSmall, seed, say }: JobOptions): Promise<JobResult> {
  const name = `${job.entry.part.name}${job.breaks ? ', broken on purpose' : ''}`;
  const args = [program, '--part', job.entry.part.name, '--seed', seed];
  if (isSmall) args.push('--small');
  if (job.breaks) args.push('--breaks');
  const beganMs = performance.now();
  const isPatient = isPatientJob(job);
  say(`${name}: begins`);
  const end = await runGroup({
    args,
    mostMs: isPatient ? patientMsMax : jobMsMax,
    isPatient,
    onLine: (line) => say(`${name}: ${line}`),
  });
  const tookMs = Math.round(performance.now() - beganMs);
  say(`${name}: ${end.failed ?? 'done'} after ${(tookMs / 1000).toFixed(0)} s`);
  return { ...resultOf(name, end), tookMs };
}

/** The result of a job; a failure becomes a violation. */
export function resultOf(name: string, { out, failed }: GroupEnd): EntryResult {
  const failure = (why: string): EntryResult => ({
    findings: [{ part: name, figures: {}, violations: [why] }],
    controls: [],
  });
  if (failed !== undefined) return failure(failed);
  try {
    return JSON.parse(out) as EntryResult;
  } catch (error) {
    return failure(`wrote an invalid result: ${String(error)}`);
  }
}
