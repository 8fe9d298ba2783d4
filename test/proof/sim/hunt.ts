// A program that simulates seed after seed until one of the given invariants is violated, and prints the finding.
// Violations of other invariants do not count. I19 is about exchanges, which have a simulation of their own.
import type { Finding } from '../finding.ts';
import { runExchanges } from './exchanges.ts';
import { runSeed } from './run.ts';

const [, , invariants = '', seedsMax = 100] = process.argv;
const wanted = invariants.split(',');
const violations: string[] = [];
let seed = 0;
while (seed < Number(seedsMax) && violations.length === 0) {
  seed += 1;
  const { flaws } = await (wanted.includes('I19') ? runExchanges(seed) : runSeed(seed));
  const flaw = flaws.find(({ invariant }) => wanted.includes(invariant));
  if (flaw !== undefined) violations.push(`${flaw.invariant}: seed ${seed}: ${flaw.what}`);
}
const finding: Finding = { part: 'hunt', figures: { seeds: seed }, violations };
process.stdout.write(JSON.stringify(finding));
