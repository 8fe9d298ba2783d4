// The program for one part of the proof, or for its controls: writes progress to stderr, and the findings as JSON to
// stdout.
import { parseArgs } from 'node:util';
import { runLookControl, type LookResult } from './controls/run-controls.ts';
import { entries } from './entries.ts';
import type { Finding } from './finding.ts';

export interface EntryResult {
  findings: readonly Finding[];
  controls: readonly LookResult[];
}

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '' },
    breaks: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});

const entry = entries.find(({ part }) => part.name === values.part);
if (entry === undefined) throw new Error(`Unknown part of the proof: "${values.part}"`);
const controls: LookResult[] = [];
let findings: readonly Finding[] = [];
if (values.breaks) {
  for (const control of entry.controls ?? []) {
    const result = await runLookControl(control);
    controls.push(result);
    const { name, seen, tookMs, skipped, failed } = result;
    say(`${name}: ${skipped ?? seen ?? `NOT CAUGHT ${failed ?? ''}`}, ${tookMs} ms`);
  }
} else {
  const scale = values.small ? 'small' : 'full';
  findings = await entry.part.prove({ scale, seed: Number(values.seed), say });
}
const result: EntryResult = { findings, controls };
// Exits after the output, so that a resource that was not closed cannot keep the process alive.
process.stdout.write(JSON.stringify(result), () => process.exit());

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
