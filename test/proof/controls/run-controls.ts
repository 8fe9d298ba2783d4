// Runs the simulation against each product that was broken on purpose, a process each: seed after seed,
// until a violation shows that somebody noticed.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Finding } from '../finding.ts';
import { changedSource } from './change-source.ts';
import { controls, type Control } from './controls.ts';

export interface ControlResult {
  name: string;
  /** The invariant; undefined: nobody noticed. */
  caughtBy: string | undefined;
  /** The first that shows it: so many seeds were needed. */
  seed: number;
  tookMs: number;
}

export interface ControlOptions {
  /** By default all. */
  names?: readonly string[];
  seedsMax?: number;
  onResult?: (result: ControlResult) => void;
}

const seedsMaxDefault = 300;

export async function runControls(options: ControlOptions = {}): Promise<ControlResult[]> {
  const { names, seedsMax = seedsMaxDefault, onResult } = options;
  const results: ControlResult[] = [];
  for (const control of controls) {
    if (control.by !== 'sim' || names?.includes(control.name) === false) continue;
    const result = await runControl(control, seedsMax);
    results.push(result);
    onResult?.(result);
  }
  return results;
}

export function findingOfControls(results: readonly ControlResult[]): Finding {
  const missed = results.filter(({ caughtBy }) => caughtBy === undefined);
  return {
    part: 'negative controls of the simulation',
    figures: Object.fromEntries(
      results.map(({ name, caughtBy, seed, tookMs }) => [
        name,
        caughtBy === undefined ? 'not caught' : `${caughtBy}, seed ${seed}, ${tookMs} ms`,
      ]),
    ),
    violations: missed.map(({ name }) => `nobody noticed "${name}"`),
  };
}

async function runControl(control: Control, seedsMax: number): Promise<ControlResult> {
  const args = [join(import.meta.dirname, 'hunt.ts'), control.name, String(seedsMax)];
  const env = { ...process.env, ...changedSource([control]) };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ]);
  if (code !== 0) throw new Error(`Control "${control.name}" did not run: ${err}`);
  const { seed, tookMs, caughtBy } = JSON.parse(out) as Omit<ControlResult, 'name'>;
  return { name: control.name, caughtBy, seed, tookMs };
}
