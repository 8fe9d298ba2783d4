// The section of docs/proof.md about mutants, from the results of `npm run mutate -- --keep`.
import { plain, sayCommit } from './text.ts';

export interface MutationRun {
  commit: string;
  isChanged: boolean;
  date: string;
  seed: number;
  scores: readonly MutationScore[];
}

export interface MutationScore {
  name: string;
  /** All mutants, and those in the sample. */
  mutants: number;
  tried: number;
  /** In the sample. */
  equivalent: number;
  killed: number;
  survived: readonly Survivor[];
}

export interface Survivor {
  file: string;
  line: number;
  from: string;
  to: string;
  /** See `Verdict` in test/proof/mutation/verdicts.ts. */
  kind?: 'equivalent' | 'accepted';
  why?: string;
}

export function mutationSection(run: MutationRun): string {
  const survivors = run.scores.flatMap(({ survived }) => survived);
  return `## Mutants

\`npm run mutate\` makes one small change to the source at a time (a comparison inverted or off by one, a condition
negated, a call or a return removed, a number increased by one) and runs the quick tests of that file. A mutant survives
if no test detects it. An equivalent mutant changes nothing that a test could detect; it does not count. A sample, drawn
with seed ${run.seed} on ${run.date}, commit ${sayCommit(run)}.

| source | mutants | tried | equivalent | killed | |
|---|---|---|---|---|---|
${run.scores.map(scoreRow).join('\n')}

| survivor | | what it shows |
|---|---|---|
${survivors.map(survivorRow).join('\n')}
`;
}

function scoreRow({ name, mutants, tried, equivalent, killed }: MutationScore): string {
  const percent = Math.round((100 * killed) / Math.max(tried - equivalent, 1));
  return `| ${plain(name)} | ${mutants} | ${tried} | ${equivalent} | ${killed} | ${percent} % |`;
}

function survivorRow({ file, line, from, to, kind, why }: Survivor): string {
  const change = `${plain(`${file}:${line}`)} ${code(from)} → ${code(to)}`;
  return `| ${change} | ${kind ?? 'open'} | ${plain(why ?? 'not examined yet')} |`;
}

/** In a cell of a table: code needs no other escapes. */
function code(text: string): string {
  return `\`\` ${text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')} \`\``;
}
