// `npm run proof`: runs every part of the proof at full size and every negative control, two at a time, and
// writes docs/proof.md. Ends with 1 when a promise was broken or a control was not noticed.
//   --only sim,targets   these parts alone, without writing the page
//   --small              as small as in `npm test`, without writing the page
//   --seed 7             another chance
//   --page               only writes the page again, from the figures of the last run
import { parseArgs } from 'node:util';
import { realWorld } from '../src/core/world.ts';
import { entries } from '../test/proof/entries.ts';
import { keepRun, writePage } from '../test/proof/report/files.ts';
import { isPatientJob, runJob, type Job, type JobResult } from '../test/proof/report/job.ts';
import { failuresOf, type ProofRun } from '../test/proof/report/page.ts';
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
  const beganMs = world.monotonicMs();
  const jobs = jobsOf(values.only?.split(','));
  const results = await runAll(jobs);
  const run: ProofRun = {
    ...checkout(),
    date: new Date(world.nowMs()).toISOString().slice(0, 10),
    machine: machine(),
    seed: Number(values.seed),
    tookMs: Math.round(world.monotonicMs() - beganMs),
    parts: jobs.flatMap(({ entry, breaks }, index) => {
      const result = results[index];
      if (result === undefined || breaks) return [];
      const { name, about } = entry.part;
      return [{ name, about, tookMs: result.tookMs, findings: result.findings }];
    }),
    controls: jobs.flatMap(({ entry }, index) =>
      (results[index]?.controls ?? []).map((result) => ({ part: entry.part.name, ...result })),
    ),
  };
  const failures = failuresOf(run);
  for (const failure of failures) say(`VIOLATION ${failure}`);
  say(
    failures.length === 0
      ? `No violation. ${run.controls.length} controls caught. ${Math.round(run.tookMs / 1000)} s.`
      : `${failures.length} violations. ${Math.round(run.tookMs / 1000)} s.`,
  );
  if (values.only === undefined && !values.small) {
    keepRun(run);
    writePage();
    say('Wrote docs/proof.md.');
  }
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
  // What wants the machine for itself comes last: it waits for nobody, and nobody waits for it.
  return kinds.sort((one, other) => placeOf(one) - placeOf(other));
}

function isAlone({ entry, breaks }: Job): boolean {
  return entry.isAlone === true && !breaks;
}

function placeOf(job: Job): number {
  if (isPatientJob(job)) return 0;
  return isAlone(job) ? 2 : 1;
}

/**
 * Two at a time; those that want the machine for themselves one by one, afterwards; and from the beginning
 * those that are content with what is left of it.
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
