// The parts of the proof about crashes of the process, power cuts and disk faults.
import { killAtStatements } from '../crash/points.ts';
import type { Finding, Part } from '../finding.ts';
import { failSyncs, fillDisk, killAtCalls } from './disk-faults.ts';
import { killWithoutSync } from './disk-controls.ts';
import { cutPower } from './images.ts';
import { serveOnFailedSync } from './service-faults.ts';

const lives = { small: 1, full: 4 };
const imagesOfLife = { small: 60, full: 1_500 };
const callsOfPath = { small: 4, full: 16 };
const statementsOfPath = { small: 4, full: Infinity };

export const crashes: Part = {
  name: 'crashes',
  about:
    'The process is killed at every statement of publish, claim, settle, unsubscribe, retry, migrate and ' +
    'upgrade, and at disk calls. Then the database is opened again: everything that was acknowledged must ' +
    'be there and continue.',
  prove: async ({ scale }) => [
    await killAtStatements({ pointsMax: statementsOfPath[scale] }),
    await killAtCalls({ pointsMax: callsOfPath[scale] }),
  ],
};

export const power: Part = {
  name: 'power',
  about:
    'Every write and sync of the SQLite file is recorded, and the disk is rebuilt as a power cut could have ' +
    'left it: what was synced, plus any part of the rest. Nothing that was acknowledged may be missing.',
  prove: async ({ scale, seed, say }) => {
    let [calls, images] = [0, 0];
    const violations: string[] = [];
    const first = 1 + (seed % 1_000);
    for (let life = first; life < first + lives[scale]; life += 1) {
      const options = { images: imagesOfLife[scale], rounds: 1 + (life % 3), seed: life };
      const found = await cutPower(options);
      if (found.skipped !== undefined) return [found];
      calls += Number(found.figures['calls']);
      images += Number(found.figures['images']);
      violations.push(...found.violations);
      say(`${images} images`);
    }
    const figures = { lives: lives[scale], calls, images };
    const findings: Finding[] = [{ part: 'power loss', figures, violations }];
    if (scale === 'full') findings.push(await killWithoutSync());
    return findings;
  },
};

export const disk: Part = {
  name: 'disk',
  about:
    'Each sync of each path fails once, and the disk is full from calls on that are spread over all paths. ' +
    'Under the real service, all syncs fail while one event is published. What was acknowledged stays, ' +
    'nothing is acknowledged that was not written, and a failed sync of a file ends the process.',
  prove: async ({ scale }) => [
    await failSyncs(),
    await fillDisk({ pointsMax: callsOfPath[scale] }),
    await serveOnFailedSync(),
  ],
};
