// Preloaded (--import) into the service: shifts its clock, in every thread, by the milliseconds that a file holds.
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
    stepMs = 0; // The file does not exist until the first step.
  }
  return stepMs;
}

Date.now = () => real() + step();
