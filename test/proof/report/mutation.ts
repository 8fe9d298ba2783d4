// The section of docs/proof.md about mutants, from what `npm run mutate -- --keep` has written.
import { plain, sayCommit } from './say.ts';

export interface MutationRun {
  commit: string;
  isChanged: boolean;
  date: string;
  seed: number;
  scores: readonly MutationScore[];
}

export interface MutationScore {
  name: string;
  /** That there are, and that were drawn. */
  mutants: number;
  tried: number;
  killed: number;
  survived: Survivor[];
}

export interface Survivor {
  file: string;
  line: number;
  from: string;
  to: string;
  /** Why no test can notice, or what became of it. Written by hand. */
  verdict?: string;
}

export function mutationSection(run: MutationRun): string {
  const survivors = run.scores.flatMap(({ survived }) => survived);
  return `## Mutants

\`npm run mutate\` makes one small change to the source at a time (a comparison inverted or off by one, a condition
negated, a call or a return removed, a number increased by one) and runs the quick tests of that file. A mutant survives
if no test detects it. A sample, drawn with seed ${run.seed} on ${run.date}, commit ${sayCommit(run)}.

| source | mutants | tried | killed | |
|---|---|---|---|---|
${run.scores.map(scoreRow).join('\n')}

| survivor | what it shows |
|---|---|
${survivors.map(survivorRow).join('\n')}
`;
}

function scoreRow({ name, mutants, tried, killed }: MutationScore): string {
  const percent = Math.round((100 * killed) / Math.max(tried, 1));
  return `| ${plain(name)} | ${mutants} | ${tried} | ${killed} | ${percent} % |`;
}

function survivorRow({ file, line, from, to, verdict = 'not looked at yet' }: Survivor): string {
  return `| ${plain(`${file}:${line}`)} \`${plain(from)}\` → \`${plain(to)}\` | ${plain(verdict)} |`;
}
