// Holds what came of hostile receivers to what must come of them: every outcome, every hold of a slot, and
// what is left of them in the process.
import { meaningOf } from '../../egress/receiver-behaviours.ts';
import type { Finding } from '../finding.ts';
import { isWhole, titleOf, type Case } from './cases.ts';
import type { Alike } from './record.ts';
import { timeoutMs, type Meeting, type Met } from './rounds.ts';

export interface Bounds {
  /** How long a slot may be held; undefined: whoever measures may be late by anything. */
  heldMaxMs: number | undefined;
  rssDriftMiBMax: number | undefined;
  /** Of 1: attempts that the deadline ended because this machine was late, where it should not have. */
  lateMax: number;
  /** How often good answers in between may be late: a lane that broke meets nobody. */
  unhealedMax: number;
}

/** Some of what took the whole time is written down a little early: clocks are rounded. */
const roundingMs = 10;
const openDriftMax = 50;
const logLinesMax = 10;
const mib = (value: number): number => Math.round(value);

export function judge(meeting: Meeting, bounds: Bounds): Finding[] {
  const { met, attempts } = meeting;
  const kinds = [
    ['whom only the deadline ends', met.filter(({ one }) => one.isEndless === true)],
    ['all others', met.filter(({ one }) => one.isEndless !== true)],
  ] as const;
  return [
    ...kinds
      .filter(([, some]) => some.length > 0)
      .map(([title, some]) => outcomes(`hostile receivers: ${title}`, some, bounds)),
    process(meeting, bounds, attempts),
  ];
}

function outcomes(part: string, met: readonly Met[], bounds: Bounds): Finding {
  const violations = met.flatMap((one) => [
    ...wrongOutcomes(one, bounds),
    ...wrongTimes(one, bounds),
    ...wrongSights(one, bounds),
  ]);
  const counts = met.map(({ attempts }) => attempts);
  const all = met.flatMap(({ record }) => record);
  const seen = met.filter(({ one }) => !isWhole(one)).map((one) => one.seen.heldMs);
  const figures = {
    behaviours: met.length,
    'attempts at each, at least': Math.min(...counts),
    attempts: sum(counts),
    'longest attempt, ms': max(all.map(({ tookMaxMs }) => tookMaxMs)),
    'longest hold of a slot, ms': max(all.map(({ heldMaxMs }) => heldMaxMs)),
    'longest stay at a receiver, ms': Math.round(max(seen)),
    'late because the machine was': sum(met.map((one) => late(one))),
  };
  return { part, figures, violations };
}

function wrongOutcomes(found: Met, { lateMax }: Bounds): string[] {
  const { one, attempts, record } = found;
  const title = `"${titleOf(one)}"`;
  const wrong = record.filter((alike) => !isExpected(one, alike) && !isLate(one, alike));
  const violations = wrong.map(({ state, status, error, count }) => {
    const was = `${count} of ${attempts} are ${state} (${[status, error].join(' ').trim()})`;
    const rule = state === 'delivered' ? 'I3' : 'I14';
    return `${rule}: ${title}: ${was}, expected ${one.is}`;
  });
  const made = sum(record.map(({ count }) => count));
  if (made !== attempts) violations.push(`I1: ${title}: ${made} attempts of ${attempts} on record`);
  const lateShare = late(found) / attempts;
  if (lateShare > lateMax) {
    const share = `${Math.round(lateShare * 100)} of 100 attempts`;
    violations.push(`I11: ${title}: ${share} ran into the deadline, expected ${one.is}`);
  }
  return violations;
}

function isExpected(one: Case, { state, status, error }: Alike): boolean {
  const deps = meaningOf(one);
  return state === deps.state && status === deps.status && error === deps.error;
}

/** It was over for whoever had waited long enough, and the answer was in some queue of this machine. */
function isLate(one: Case, { error, tookMinMs }: Alike): boolean {
  return one.isEndless !== true && error === 'timeout' && tookMinMs >= timeoutMs - roundingMs;
}

function late({ one, record }: Pick<Met, 'one' | 'record'>): number {
  return sum(record.filter((alike) => isLate(one, alike)).map(({ count }) => count));
}

function wrongTimes({ one, record }: Met, { heldMaxMs = Infinity }: Bounds): string[] {
  const title = `"${titleOf(one)}"`;
  const violations: string[] = [];
  const held = max(record.map((alike) => Math.max(alike.heldMaxMs, alike.tookMaxMs)));
  if (held > heldMaxMs) {
    violations.push(`I11: ${title} held a slot for ${held} ms, expected at most ${heldMaxMs}`);
  }
  const least = Math.min(...record.map(({ tookMinMs }) => tookMinMs));
  const isSpent = least >= timeoutMs - roundingMs;
  if (one.isEndless === true && !isSpent) {
    violations.push(`I11: ${title} was given up after ${least} ms, expected ${timeoutMs}`);
  }
  if (one.isEndless !== true && isSpent && record.length > 0) {
    violations.push(`I11: ${title}: every attempt ran into the deadline, expected none to`);
  }
  return violations;
}

function wrongSights({ one, attempts, seen }: Met, { heldMaxMs = Infinity }: Bounds): string[] {
  const title = `"${titleOf(one)}"`;
  const violations: string[] = [];
  if (seen.strays > 0) violations.push(`I15: ${title} was followed ${seen.strays} times`);
  if (seen.left > 0) {
    violations.push(`I11: ${title}: ${seen.left} connections stay open after their attempts`);
  }
  if (!isWhole(one) && seen.heldMs > heldMaxMs) {
    violations.push(`I11: ${title} was visited for ${Math.round(seen.heldMs)} ms`);
  }
  if (!isWhole(one) && seen.requests > attempts) {
    violations.push(`I5: ${title} saw ${seen.requests} requests of ${attempts} attempts`);
  }
  return violations;
}

function process(meeting: Meeting, bounds: Bounds, attempts: number): Finding {
  const { before, after, lag, log, lost, ended, unhealed } = meeting;
  const { rssDriftMiBMax = Infinity } = bounds;
  const driftMiB = mib(after.rssMiB - before.rssMiB);
  const openDrift = after.open - before.open;
  const linesPerAttempt = log.lines / attempts;
  const violations: string[] = [];
  if (lost !== undefined) {
    const title = `"${titleOf(lost.one)}"`;
    violations.push(
      `I11: ${title}: ${lost.pending} attempts hold their slots long after the deadline`,
    );
  } else if (ended !== 0) violations.push(`I11: the process ended with ${ended}`);
  if (unhealed.length > bounds.unhealedMax) {
    violations.push(`void: good answers at ${unhealed.join()} were late ${unhealed.length} times`);
  }
  if (driftMiB > rssDriftMiBMax) {
    violations.push(`I11: it has grown by ${driftMiB} MiB, expected at most ${rssDriftMiBMax}`);
  }
  if (openDrift > openDriftMax)
    violations.push(`I11: ${openDrift} more files and sockets are open`);
  if (linesPerAttempt > logLinesMax)
    violations.push(`I11: ${linesPerAttempt} log lines an attempt`);
  for (const line of log.ownFailures)
    violations.push(`I11: logged as a failure of our own: ${line}`);
  const figures = {
    'attempts, with good ones in between': attempts,
    'RSS before, MiB': mib(before.rssMiB),
    'RSS after, MiB': mib(after.rssMiB),
    'RSS drift, MiB': driftMiB,
    'RSS at most, MiB': mib(after.peakMiB),
    'CPU of the service, ms an attempt': ((after.cpuMs - before.cpuMs) / attempts).toFixed(2),
    'open files and sockets before': before.open,
    'open files and sockets after': after.open,
    'log lines an attempt': linesPerAttempt.toFixed(2),
    'loop lag, p99 of the worst half minute, ms': Math.round(lag.p99 * 1000),
    'loop lag at most, ms': Math.round(lag.worst * 1000),
  };
  return { part: 'hostile receivers: what is left of them in the process', figures, violations };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

function max(values: readonly number[]): number {
  return Math.max(0, ...values);
}
