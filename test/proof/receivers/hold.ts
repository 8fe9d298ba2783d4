// One receiver that hangs, and far more events for it than there is room on the node: how much of the room it
// gets, and whether those beside it are served meanwhile.
import { newFolder } from '../../cli/ringback-process.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { makeCertificates } from '../../egress/tls-behaviours.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { cases } from './cases.ts';
import { startCrowd, type Crowd } from './crowd-process.ts';
import { startSubject } from './subject.ts';

/** Longer than this takes on any machine: no attempt at it ends meanwhile. */
const timeout = '60s';
const events = 300;
const neighbours = 20;
const rounds = 10;
const patience = { sound: 60_000, broken: 3_000 } as const;

export async function holdOne(changes: readonly SourceChange[] = []): Promise<Finding> {
  const patienceMs = patience[changes.length === 0 ? 'sound' : 'broken'];
  const certificates = makeCertificates('hooks.example.com');
  await using folder = await newFolder();
  const ports = { http: 1, https: 0, deaf: 0, absent: 0 };
  await using hanging = await startCrowd(ports, certificates);
  await using good = await startCrowd(ports, certificates);
  await using subject = await startSubject(folder.path, {
    RINGBACK_TIMEOUT: timeout,
    ...changedSource(changes),
  });
  await hanging.behave(cases.findIndex(({ does }) => does === 'hangs after accept'));
  await good.behave('well');
  await subject.subscribe({ url: urlOf(hanging), events: 'hold.*' });
  for (let lane = 0; lane < neighbours; lane += 1) {
    await subject.subscribe({ url: urlOf(good), events: 'good.*' });
  }
  await subject.publish('hold.on', events);
  // Each of them after the last: if there were no room beside the one that hangs, none would end.
  let served = 0;
  for (let round = 1; round <= rounds; round += 1) {
    await subject.publish('good.one', 1);
    const missing = await subject.drain(round * neighbours, patienceMs);
    served = round * neighbours - Math.max(missing, 0);
    if (missing > 0) break;
  }
  const { most } = await hanging.look();
  const violations: string[] = [];
  if (most === 0) violations.push('void: nobody came to the receiver that hangs');
  if (most > limits.laneCapStart) {
    const expected = `expected at most ${limits.laneCapStart}`;
    violations.push(`I10: a receiver that hangs held ${most} slots at a time, ${expected}`);
  }
  if (served < rounds * neighbours)
    violations.push(`I10: only ${served} of its neighbours were served`);
  return {
    part: 'hostile receivers: one that hangs among others',
    figures: { 'events for it': events, 'slots that it held': most, 'served beside it': served },
    violations,
  };
}

function urlOf({ places }: Crowd): string {
  return `http://127.0.0.1:${places.http[0]}/hook`;
}
