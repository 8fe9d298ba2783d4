// A process of its own that takes one step of the part, small, and prints its finding as JSON. For
// products that were broken on purpose.
import assert from 'node:assert/strict';
import { stepsOf } from './part.ts';

const [, , wanted] = process.argv;
const step = Object.entries(stepsOf('small', 1)).find(([name]) => name === wanted)?.[1];
assert(step !== undefined, `There is no step "${wanted}"`);
const finding = await step();
// A pipe takes less at once than a thousand violations are long.
const violations = finding.violations.slice(0, 20);
process.stdout.write(JSON.stringify({ ...finding, violations }));
