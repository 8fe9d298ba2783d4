// Explains a violation, for readers who do not know the simulation.
import type { Flaw } from '../invariants/history.ts';
import { invariants } from '../report/invariants.ts';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';

const flawsMax = 20;
const linesAboutMax = 150;
const lastLines = 200;

const meanings: Readonly<Record<string, string>> = {
  ...invariants,
  rate: 'a rate limit holds over every span of time and all nodes',
  concurrency: 'no more attempts are in flight than a subscription allows on a node',
  liveness: 'after all faults have ended, everything finishes',
  error: 'no node fails in an unexpected way',
};

export interface Explained {
  plan: Plan;
  /** With all lines of its trace. */
  run: Run;
  commit: string;
  /** The command that repeats it. */
  replay: string;
}

export function explain({ plan, run, commit, replay }: Explained): string {
  const { seed, flaws, lines, print } = run;
  const [first] = flaws;
  if (first === undefined) return `Seed ${seed} violates nothing. Fingerprint ${print}.`;
  const names = [...new Set(flaws.map(({ invariant }) => invariant))];
  const about = linesAbout(first, lines);
  const left = lines.length - lastLines;
  return [
    `VIOLATION at seed ${seed}, commit ${commit}, fingerprint ${print}`,
    '',
    `Violations${flaws.length > flawsMax ? `, the first ${flawsMax} of ${flaws.length}` : ''}:`,
    ...flaws.slice(0, flawsMax).map(({ invariant, what }) => `  ${invariant}: ${what}`),
    'Expected:',
    ...names.map((name) => `  ${name}: ${meanings[name] ?? 'see docs/proof.md'}`),
    '',
    `Plan: ${summary(plan)}`,
    '',
    'Each step shows the milliseconds since the start and what happened. n1, n2, … are nodes, evt_ events,',
    'dlv_ and …xxxxxx_0 deliveries (the end of their event, and a number), sub_ subscriptions, rpl_ replays.',
    '"takes": the node claims deliveries. "sends": a request leaves it. "writes": it calls the store.',
    '',
    `All steps that concern the first violation${about.length > linesAboutMax ? `, the last ${linesAboutMax}` : ''}:`,
    ...about.slice(-linesAboutMax).map((line) => `  ${line}`),
    '',
    `The last ${Math.min(lines.length, lastLines)} steps, of ${lines.length}:`,
    ...lines.slice(Math.max(left, 0)).map((line) => `  ${line}`),
    '',
    `Repeat exactly the same steps with: ${replay}`,
  ].join('\n');
}

/** Lines that name the same ids as the violation, and faults since the first of them. */
function linesAbout({ what }: Flaw, lines: readonly string[]): string[] {
  const ids = [...what.matchAll(/\b(?:evt|sub|rpl|dlv)_(\w{26})(_\d+)?/g)];
  const marks = ids.flatMap(([, id = '', n]) => (n === undefined ? [id] : [`${id}${n}`, id]));
  const shorts = ids.map(([, id = '', n = '_']) => `…${id.slice(-6)}${n}`);
  const isAbout = (line: string): boolean =>
    [...marks, ...shorts].some((mark) => line.includes(mark)) || isNews(line);
  const first = lines.findIndex((line) => marks.some((mark) => line.includes(mark)));
  return lines.slice(Math.max(first, 0)).filter(isAbout);
}

function isNews(line: string): boolean {
  return /\b(?:dies with|freezes for|stops with|is node|all faults end|the store is down|the clock of)\b/.test(
    line,
  );
}

function summary(plan: Plan): string {
  const { nodes, isShared, receivers, subscriptions, events, faultsMs, waitsMs } = plan;
  const rates = (group: Readonly<Record<string, number>>): string => {
    const set = Object.entries(group).filter(([, rate]) => rate > 0);
    if (set.length === 0) return 'none';
    return set.map(([name, rate]) => `${name} ${Number(rate.toPrecision(2))}`).join(', ');
  };
  return [
    `${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${isShared ? 'as on PostgreSQL' : 'as on SQLite'};`,
    `${receivers} receivers, ${subscriptions} subscriptions at first, ${events} publishes in ${faultsMs / 1000} s;`,
    `waits between attempts ${waitsMs.join(', ')} ms.`,
    `\n  A minute: ${rates(plan.perMinute)}.`,
    `\n  Of calls to the store: ${rates(plan.store)}. Of requests: ${rates(plan.network)}.`,
    `\n  Limits in other sizes: ${rates(plan.limits)}.`,
  ].join(' ');
}
