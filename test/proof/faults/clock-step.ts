// Loaded before the service (--import): moves the clock of its machine, in every thread, by what a file says.
import { readFileSync } from 'node:fs';

const file = process.env['PROOF_CLOCK'];
const real = Date.now;
const everyMs = 20;
let readMs = -Infinity;
let stepMs = 0;

function step(): number {
  const nowMs = performance.now();
  if (nowMs - readMs < everyMs || file === undefined) return stepMs;
  readMs = nowMs;
  try {
    stepMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    stepMs = 0; // Nobody has moved it yet.
  }
  return stepMs;
}

Date.now = () => real() + step();
