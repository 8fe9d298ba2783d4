// The simulation as a part of the proof. In full it uses all cores.
import { availableParallelism } from 'node:os';
import type { Part } from '../finding.ts';
import { findingOf, runBatch } from './batch.ts';
import { proveExchanges } from './exchanges.ts';
import { runShared } from './share.ts';

const seeds = { small: 15, full: 5_000 };
const exchangeSeeds = { small: 4, full: 1_000 };
/** Proofs with different seeds simulate different seeds. */
const apart = 100_000;

export const simulation: Part = {
  name: 'simulation',
  about:
    'The real engine and the real SQL of SQLite, with 1 to 5 nodes on one database, run on a virtual clock. ' +
    'Nodes die, freeze and are stopped; clocks are set; the store fails before and after it has written; ' +
    'receivers fail, hang, die and lose their responses. Each seed draws the rates. Then all faults end, ' +
    'everything must finish, and invariants I1 to I9, I13, I14 and I18 must hold; rates, concurrency limits ' +
    'and replays must be exact. A thousand further seeds let an API that dies answer requests with ' +
    'callbacks (I19). A batch that never met a fault counts as void.',
  prove: async ({ scale, seed, say }) => {
    const from = 1 + (seed - 1) * apart;
    const count = seeds[scale];
    const few = exchangeSeeds[scale];
    if (scale === 'small') {
      return [findingOf(await runBatch({ from, seeds: count })), await proveExchanges(from, few)];
    }
    const exchanges = proveExchanges(from, few); // The other seeds run in processes of their own.
    const sum = await runShared({
      from,
      seeds: count,
      processes: availableParallelism(),
      isPatient: true,
      onSeeds: (done) => say(`${done} of ${count} seeds`),
      onFailed: ({ seed: failed }) => say(`VIOLATION: npm run sim -- --seed ${failed} repeats it`),
    });
    return [findingOf(sum), await exchanges];
  },
};
