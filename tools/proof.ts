// `npm run proof`: runs every part of the proof at full size and every negative control, two at a
// time, and writes docs/proof.md. Exits with 1 if a promise was broken or a control went unnoticed.
//   --only simulation,targets   only these parts, without writing the page
//   --small                     as small as in `npm test`, without writing the page
//   --seed 7                    another seed
//   --page                      only writes the page again, from the figures of the last run
import { parseArgs } from 'node:util';
import { realWorld } from '../src/core/base/world.ts';
import { entries } from '../test/proof/entries.ts';
import { assemble } from '../test/proof/report/assemble.ts';
import { keepRun, keptLongRun, writePage } from '../test/proof/report/files.ts';
import { endGroupsWithUs } from '../test/proof/report/group.ts';
import { isPatientJob, runJob, type Job, type JobResult } from '../test/proof/report/job.ts';
import { caughtOf, failuresOf, skippedOf, type ProofRun } from '../test/proof/report/page.ts';
import { checkout, machine } from '../test/proof/report/place.ts';

const world = realWorld();
const cores = 2;
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    small: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    page: { type: 'boolean', default: false },
  },
});

if (values.page) writePage();
else process.exitCode = await prove();

async function prove(): Promise<number> {
  endGroupsWithUs();
  const beganMs = world.monotonicMs();
  const source = checkout(); // Recorded first, because files may change during the run.
  const jobs = jobsOf(values.only?.split(','));
  const results = await runAll(jobs);
  const run: ProofRun = {
    ...source,
    date: new Date(world.nowMs()).toISOString().slice(0, 10),
    machine: machine(),
    seed: Number(values.seed),
    tookMs: Math.round(world.monotonicMs() - beganMs),
    ...assemble(jobs, results),
  };
  const isWhole = values.only === undefined && !values.small;
  if (isWhole) {
    keepRun(run);
    writePage();
    say('Wrote docs/proof.md.');
  }
  return conclude(run, failuresOf(run, isWhole ? keptLongRun() : undefined));
}

/** Printed last, where it is read. The page counts the same failures. */
function conclude(run: ProofRun, failures: readonly string[]): number {
  const skipped = skippedOf(run);
  const { caught, tried } = caughtOf(run);
  for (const failure of failures) say(`VIOLATION ${failure}`);
  for (const { part, name, why } of skipped) say(`SKIPPED ${part}, ${name}: ${why}`);
  say(
    `${failures.length === 0 ? 'No violation' : `${failures.length} violations`}. ` +
      `${caught} of ${tried} controls caught. ${skipped.length} skipped. ` +
      `${Math.round(run.tookMs / 1000)} s.`,
  );
  return failures.length === 0 ? 0 : 1;
}

function jobsOf(only: readonly string[] | undefined): Job[] {
  const unknown = only?.filter((name) => !entries.some(({ part }) => part.name === name)) ?? [];
  if (unknown.length > 0) {
    const names = entries.map(({ part }) => part.name).join(', ');
    throw new Error(`There is no part ${unknown.join(', ')}: expected some of ${names}`);
  }
  const wanted = entries.filter(({ part }) => only === undefined || only.includes(part.name));
  const kinds = wanted.flatMap((entry): Job[] =>
    entry.controls === undefined
      ? [{ entry, breaks: false }]
      : [
          { entry, breaks: false },
          { entry, breaks: true },
        ],
  );
  // Jobs that need the machine for themselves come last, so that nothing runs beside them.
  return kinds.sort((one, other) => positionOf(one) - positionOf(other));
}

function isAlone({ entry, breaks }: Job): boolean {
  return entry.isAlone === true && !breaks;
}

function positionOf(job: Job): number {
  if (isPatientJob(job)) return 0;
  return isAlone(job) ? 2 : 1;
}

/**
 * Runs two jobs at a time, then those that need the machine for themselves one by one. Jobs that
 * need little CPU run beside the others from the start.
 */
async function runAll(jobs: readonly Job[]): Promise<JobResult[]> {
  const results: JobResult[] = [];
  const work = async (from: number, to: number, lanes: number): Promise<void> => {
    let next = from;
    const lane = async (): Promise<void> => {
      while (next < to) {
        const index = next;
        next += 1;
        const job = jobs[index];
        if (job === undefined) return;
        results[index] = await runJob(job, { isSmall: values.small, seed: values.seed, say });
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
  const patient = jobs.filter(isPatientJob).length;
  const alone = jobs.findIndex(isAlone);
  const shared = alone < 0 ? jobs.length : alone;
  const leftovers = work(0, patient, patient);
  await work(patient, shared, cores);
  await work(shared, jobs.length, 1);
  await leftovers;
  return results;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
