// A program for controls, and to repeat a run: fuzzes one service and prints the finding.
// node test/proof/fuzz/look-fuzz.ts '{"seed":1000,"requests":400}'
import { runLife, type LifeOptions } from './run-service.ts';
import { findingOf } from './part.ts';

const given = JSON.parse(process.argv[2] ?? '{}') as Partial<LifeOptions>;
const store = { RINGBACK_DATA: ':memory:' };
const result = await runLife({ seed: 1, requests: 300, store, ...given });
process.stdout.write(JSON.stringify(findingOf('look', [result])));
process.exit(); // Some controls leave work that would keep the process alive.
