// Full size, for `npm run proof`: everything that can happen to a process and to the disk under it. Of one
// core of 2026 it takes about ten minutes.
import { killAtStatements } from '../crash/points.ts';
import type { Finding } from '../finding.ts';
import { failSyncs, fillDisk, killAtCalls } from './disk-faults.ts';
import { cutPower } from './images.ts';
import { serveOnFailedSync } from './service-faults.ts';

const lives = 6;
const imagesOfLife = 3_300;
const callsOfPath = 60;

/** Every statement of every path; and calls to the disk, spread over each path. */
export async function proveCrashes(): Promise<Finding[]> {
  return [await killAtStatements(), await killAtCalls({ pointsMax: callsOfPath })];
}

/** At least 10,000 images, of lives that differ in their chance and in their length. */
export async function provePowerLoss(): Promise<Finding> {
  let [calls, images] = [0, 0];
  const violations: string[] = [];
  for (let seed = 1; seed <= lives; seed += 1) {
    const found = await cutPower({ images: imagesOfLife, rounds: 1 + (seed % 3), seed });
    if (found.skipped !== undefined) return found;
    calls += Number(found.figures['calls']);
    images += Number(found.figures['images']);
    violations.push(...found.violations);
  }
  return { part: 'power loss', figures: { lives, calls, images }, violations };
}

export async function proveDiskFaults(): Promise<Finding[]> {
  return [await failSyncs(), await fillDisk({ pointsMax: callsOfPath }), await serveOnFailedSync()];
}
