// docs/proof.md, made from the figures of a run. Nothing on the page is written by hand but sentences.
import type { LookResult } from '../controls/look.ts';
import { simulated, type Finding } from '../finding.ts';
import { found } from './found.ts';
import { notTried } from './not-tried.ts';
import { mutationSection, type MutationRun } from './mutation.ts';
import { plain, sayCommit } from './say.ts';

export interface ProofRun {
  commit: string;
  isChanged: boolean;
  date: string;
  machine: string;
  seed: number;
  tookMs: number;
  parts: readonly PartRun[];
  controls: readonly (LookResult & { part: string })[];
}

export interface PartRun {
  name: string;
  about: string;
  tookMs: number;
  findings: readonly Finding[];
}

/** Many more seeds than `npm run proof` has time for: `npm run sim -- --seeds 20000 --keep`. */
export interface LongRun {
  commit: string;
  /** Older files do not say. */
  isChanged?: boolean;
  date: string;
  from: number;
  finding: Finding;
}

/** Whatever must not be: broken promises, parts that tried nothing, and controls that nobody noticed. */
export function failuresOf({ parts, controls }: ProofRun, longRun?: LongRun): string[] {
  return [
    ...parts
      .filter(({ findings }) => findings.length === 0)
      .map(({ name }) => `${name}: no result`),
    ...parts.flatMap(({ name, findings }) =>
      findings.flatMap(({ part, violations }) =>
        violations.map((one) => `${name}, ${part}: ${one}`),
      ),
    ),
    ...(longRun?.finding.violations ?? []).map((one) => `the longer simulation: ${one}`),
    ...controls
      .filter(({ seen, skipped }) => seen === undefined && skipped === undefined)
      .map(({ part, name, failed }) => {
        const why = failed === undefined ? '' : `: ${failed}`;
        return `${part}: nobody noticed the control "${name}"${why}`;
      }),
  ];
}

export interface Skipped {
  kind: 'finding' | 'control';
  part: string;
  name: string;
  why: string;
}

/** What could not be tried on this machine. It is no success. */
export function skippedOf({ parts, controls }: ProofRun): Skipped[] {
  return [
    ...parts.flatMap(({ name: part, findings }) =>
      findings.flatMap(({ part: name, skipped: why }): Skipped[] =>
        why === undefined ? [] : [{ kind: 'finding', part, name, why }],
      ),
    ),
    ...controls.flatMap(({ part, name, skipped: why }): Skipped[] =>
      why === undefined ? [] : [{ kind: 'control', part, name, why }],
    ),
  ];
}

/** Of the controls that were tried: what was skipped was neither tried nor caught. */
export function caughtOf({ controls }: ProofRun): { caught: number; tried: number } {
  const tried = controls.filter(({ skipped }) => skipped === undefined);
  return { caught: tried.filter(({ seen }) => seen !== undefined).length, tried: tried.length };
}

export function proofPage(
  run: ProofRun,
  longRun: LongRun | undefined,
  mutation?: MutationRun,
): string {
  const events = eventsOf(run, longRun);
  const failures = failuresOf(run, longRun);
  const { caught, tried } = caughtOf(run);
  const skipped = skippedOf(run).map(({ kind }) => kind);
  return `# The proof

\`npm run proof\` tries to break every promise of Ringback, writes this page, and ends with 1 if it succeeds. Then it
breaks Ringback on purpose, in ${tried} ways, and has to notice each: a check that cannot fail proves nothing.

| | |
|---|---|
| acknowledged events, real processes | ${sayEvents(events.real)} |
| acknowledged events, simulated | ${sayEvents(events.simulated)} |
| violations | **${failures.length}** |
| controls caught | **${caught} of ${tried}** |
| skipped | ${count(skipped, 'finding')}, ${count(skipped, 'control')} |
| commit | ${sayCommit(run)} |
| run | ${run.date}, seed ${run.seed}, ${minutes(run.tookMs)}, ${run.machine} |

Repeat it: \`npm ci && npm run proof\`. Another chance: \`npm run proof -- --seed 7\`. One part: \`npm run proof -- --only ${run.parts[0]?.name ?? 'power'}\`.
A seed of the simulation that failed is replayed by \`npm run sim -- --seed N\`, step by step.
${failures.length === 0 ? '' : `\n## Violations\n\n${failures.map((one) => `- ${plain(one)}`).join('\n')}\n`}
## What was tried

${run.parts.map(partSection).join('\n')}
${longRun === undefined ? '' : longRunSection(longRun)}
## Broken on purpose

The product has no switch for this: its source is changed as it is loaded, in a process that is meant to fail.

| control | part | what was seen | after |
|---|---|---|---|
${run.controls.map(controlRow).join('\n')}

${mutation === undefined ? '' : `${mutationSection(mutation)}\n`}## What was found, and mended

${found.map(({ what, test }) => `- ${what} Held by \`${test}\`.`).join('\n')}

## What was not tried

${notTried.map((one) => `- ${one}`).join('\n')}

Made by \`npm run proof\` from [the figures of the run](proof/run.json).
`;
}

function partSection({ name, about, tookMs, findings }: PartRun): string {
  return `### ${name}

${about} ${minutes(tookMs)}.

| | figures | violations |
|---|---|---|
${findings.map(findingRow).join('\n')}
`;
}

function longRunSection(longRun: LongRun): string {
  const { date, from, finding } = longRun;
  const seeds = Number(finding.figures['seeds']);
  return `### A longer simulation

Seeds ${from} to ${from + seeds - 1}, once, on ${date}, commit ${sayCommit(longRun)}: \`npm run sim -- --seeds ${seeds} --from ${from} --keep\`.

| | figures | violations |
|---|---|---|
${findingRow(finding)}
`;
}

function findingRow({ part, figures, violations, events, skipped }: Finding): string {
  const shown = Object.entries(figures).map(
    ([name, figure]) => `${words(name)} ${say(figure, name)}`,
  );
  if (events !== undefined) {
    shown.unshift(`acknowledged ${say(events.accepted)}, lost ${say(events.lost)}`);
  }
  if (skipped !== undefined) shown.push(`not tried here: ${skipped}`);
  return `| ${plain(part)} | ${plain(shown.join('; '))} | ${violations.length} |`;
}

function controlRow(control: ProofRun['controls'][number]): string {
  const { name, part, seen, tookMs, skipped, failed } = control;
  const nothing = failed === undefined ? '**nothing**' : `**nothing**: ${failed}`;
  const what = skipped === undefined ? (seen ?? nothing) : `not tried here: ${skipped}`;
  return `| ${name} | ${part} | ${plain(short(what))} | ${(tookMs / 1000).toFixed(1)} s |`;
}

type Events = NonNullable<Finding['events']>;

/** What a simulation calls an event was never sent by anybody: it is not added to those that were. */
function eventsOf(
  run: ProofRun,
  longRun: LongRun | undefined,
): { real: Events; simulated: Events } {
  const findings = run.parts.flatMap((part) => part.findings);
  if (longRun !== undefined) findings.push(longRun.finding);
  return {
    real: sumOf(findings.filter(({ part }) => part !== simulated)),
    simulated: sumOf(findings.filter(({ part }) => part === simulated)),
  };
}

function sumOf(findings: readonly Finding[]): Events {
  return findings.reduce(
    (sum, { events }) => ({
      accepted: sum.accepted + (events?.accepted ?? 0),
      lost: sum.lost + (events?.lost ?? 0),
    }),
    { accepted: 0, lost: 0 },
  );
}

function sayEvents({ accepted, lost }: Events): string {
  return `${say(accepted)}, of these lost: **${say(lost)}**`;
}

function count(kinds: readonly Skipped['kind'][], kind: Skipped['kind']): string {
  const many = kinds.filter((one) => one === kind).length;
  return `${many} ${kind}${many === 1 ? '' : 's'}`;
}

const seenCharsMax = 110;

function short(text: string): string {
  return text.length <= seenCharsMax ? text : `${text.slice(0, seenCharsMax)}…`;
}

/** `longestHoldMs` is "longest hold"; what is in words already, or an acronym, stays as it is. */
function words(name: string): string {
  if (!/^[a-z][A-Za-z]*$/.test(name)) return name;
  return name
    .replace(/Ms$/, '')
    .replaceAll(/MiB|[A-Z]/g, (part) => ` ${part === 'MiB' ? part : part.toLowerCase()}`);
}

function say(figure: number | string, name = ''): string {
  const text = typeof figure === 'number' ? figure.toLocaleString('en') : figure;
  return name.endsWith('Ms') ? `${text} ms` : text;
}

function minutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
