// A program for controls: runs one small step of the part, and prints its finding as JSON.
import assert from 'node:assert/strict';
import { stepsOf } from './part.ts';

const [, , wanted] = process.argv;
const step = Object.entries(stepsOf('small', 1)).find(([name]) => name === wanted)?.[1];
assert(step !== undefined, `unknown step "${wanted}"`);
const finding = await step();
// A thousand violations would not fit into the pipe at once.
const violations = finding.violations.slice(0, 20);
process.stdout.write(JSON.stringify({ ...finding, violations }));
