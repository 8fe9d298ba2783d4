// Two workers claim from the same lanes at the same time, without faults: each event must come exactly once.
import { setTimeout as wait } from 'node:timers/promises';
import type { SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { judge } from './judge.ts';
import { setScene } from './scene.ts';

const events = 600;

export async function claimSideBySide(changes: readonly SourceChange[] = []): Promise<Finding> {
  const nodes = { api: 'api', first: 'worker', second: 'worker' } as const;
  await using scene = await setScene({ seed: 1, nodes, changes, publishersOfNode: 16 });
  scene.load.begin();
  await scene.load.answered.reach(events);
  await scene.load.end();
  await wait(200);
  const { violations, accepted, lost, cameAgain } = await judge(scene.database, scene.load);
  const figures = { 'events accepted': accepted, lost, 'callbacks that came again': cameAgain };
  return { part: 'postgres: two claim at once', figures, violations, events: { accepted, lost } };
}
