// Assembles a run from the results of its jobs. Missing results must be reported.
import type { LookResult } from '../controls/run-controls.ts';
import type { Job, JobResult } from './job.ts';
import type { PartRun, ProofRun } from './page.ts';

type Results = readonly (JobResult | undefined)[];

/** `results` are in the order of the jobs. */
export function assemble(
  jobs: readonly Job[],
  results: Results,
): Pick<ProofRun, 'parts' | 'controls'> {
  const pairs = jobs.map((job, index) => ({ job, result: results[index] }));
  return {
    parts: pairs.flatMap(({ job, result }) => partsOf(job, result)),
    controls: pairs.flatMap(({ job, result }) =>
      controlsOf(job, result).map((one) => ({ part: job.entry.part.name, ...one })),
    ),
  };
}

/** A job of controls only has findings if the job itself failed. */
function partsOf({ entry, breaks }: Job, result: JobResult | undefined): PartRun[] {
  const { name, about } = entry.part;
  const { tookMs = 0, findings = [] } = result ?? {};
  if (!breaks) return [{ name, about, tookMs, findings }];
  if (findings.length === 0) return [];
  const whole = `${name}, broken on purpose`;
  return [{ name: whole, about: 'The job of its controls failed.', tookMs, findings }];
}

/** The results of all controls of the entry; one without a result counts as not detected. */
function controlsOf({ entry, breaks }: Job, result: JobResult | undefined): LookResult[] {
  if (!breaks) return [];
  const given = new Map((result?.controls ?? []).map((one) => [one.name, one]));
  return (entry.controls ?? []).map(
    ({ name }) => given.get(name) ?? { name, seen: undefined, tookMs: 0, failed: 'no result' },
  );
}
