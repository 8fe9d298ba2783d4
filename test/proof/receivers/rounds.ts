// Many attempts at every hostile receiver, through the whole service: one behaviour after the other on all
// lanes, and good answers in between, so that no breaker spares the receivers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { newFolder } from '../../cli/ringback-process.ts';
import { makeCertificates, trusted } from '../../egress/tls-behaviours.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import type { Seen } from './crowd.ts';
import { startCrowd, type Crowd } from './crowd-process.ts';
import { cases, titleOf, type Case, type ReceiverKind } from './cases.ts';
import { readRecord, type CaseRecord } from './record.ts';
import { startSubject, type LogRead, type Subject, type Weight } from './subject.ts';

export interface Size {
  /** Attempts of each that only the deadline ends, and of each other one. */
  endless: number;
  other: number;
  /** Subscriptions at each place. Each has one attempt under way: so many there are at a time. */
  lanes: Readonly<Record<ReceiverKind, number>>;
  /** Which are met; all of them unless said otherwise. */
  only?: (one: Case) => boolean;
  /** Good answers before anything is weighed, and how long the process rests before each weighing. */
  warmUp: number;
  restMs: number;
  /** How long one behaviour may take until its attempts are called lost. */
  patienceMs: number;
}

export interface Met {
  one: Case;
  attempts: number;
  tookMs: number;
  seen: Seen;
  record: CaseRecord;
}

export interface Meeting {
  met: Met[];
  /** Attempts that were still under way when nobody waited any longer, and whose. */
  lost: { one: Case; pending: number } | undefined;
  before: Weight;
  after: Weight;
  lag: { p99: number; worst: number };
  log: LogRead;
  /** With the good ones. */
  attempts: number;
  ended: number | string;
  /** Where good answers did not all come in time: a breaker may have spared what came next. */
  unhealed: readonly string[];
}

export const timeoutMs = 1_000;
/** The tenth failure in a row breaks a lane: good answers may be late on a busy machine, four times. */
const failuresMax = 5;
const healsMax = 4;
/** So many that no origin gets more connections than the sender opens to one. */
const portsMax: Readonly<Record<ReceiverKind, number>> = {
  http: 50,
  https: 50,
  deaf: 10,
  absent: 10,
};
const subscribesAtOnce = 32;
const lagEveryMs = 20_000;
const weighEveryMs = 500;

interface Stage {
  subject: Subject;
  crowd: Crowd;
  size: Size;
  /** Deliveries that were made, and those of them that were answered well. */
  made: number;
  healed: number;
  lag: { p99: number; worst: number };
  lagReadMs: number;
  unhealed: string[];
}

export async function meetAll(
  size: Size,
  options: { changes?: readonly SourceChange[]; say?: (line: string) => void } = {},
): Promise<Meeting> {
  const { changes = [], say = () => undefined } = options;
  const chosen = cases.filter(size.only ?? (() => true));
  await using folder = await newFolder();
  const certificates = makeCertificates('hooks.example.com');
  const ca = join(folder.path, 'ca.pem');
  writeFileSync(ca, trusted(certificates).join(''));
  await using crowd = await startCrowd(portsFor(size, chosen), certificates);
  await using subject = await startSubject(folder.path, {
    RINGBACK_TIMEOUT: `${timeoutMs}ms`,
    NODE_EXTRA_CA_CERTS: ca,
    ...changedSource(changes),
  });
  const stage: Stage = {
    subject,
    crowd,
    size,
    made: 0,
    healed: 0,
    lag: { p99: 0, worst: 0 },
    lagReadMs: 0,
    unhealed: [],
  };
  await subscribeAll(stage, chosen);
  for (const place of placesOf(chosen)) await heal(stage, place, size.warmUp);
  const before = await restAndWeigh(stage);
  const met: Omit<Met, 'record'>[] = [];
  let lost: Meeting['lost'];
  for (const one of chosen) {
    const beganMs = performance.now();
    const found = await meet(stage, one);
    const tookMs = Math.round(performance.now() - beganMs);
    met.push({ one, tookMs, ...found });
    say(`${titleOf(one)}: ${found.attempts} attempts in ${tookMs} ms`);
    if (found.pending > 0) {
      lost = { one, pending: found.pending };
      break;
    }
  }
  const after = await restAndWeigh(stage);
  await readLag(stage, 'now');
  const { healed, lag } = stage;
  const ended = await (lost === undefined ? subject.stop() : 'not stopped');
  if (lost !== undefined) await subject[Symbol.asyncDispose]();
  const records = readRecord(join(folder.path, 'data'));
  const all = met.map((one) => ({ ...one, record: records.get(one.one.event) ?? [] }));
  const attempts = met.reduce((sum, one) => sum + one.attempts, healed);
  const log = await subject.readLog();
  return { met: all, lost, before, after, lag, log, attempts, ended, unhealed: stage.unhealed };
}

function portsFor({ lanes }: Size, chosen: readonly Case[]): Record<ReceiverKind, number> {
  const at = (place: ReceiverKind): number =>
    chosen.some((one) => one.place === place) ? Math.min(portsMax[place], lanes[place]) : 0;
  return { http: at('http'), https: at('https'), deaf: at('deaf'), absent: at('absent') };
}

function placesOf(chosen: readonly Case[]): Set<ReceiverKind> {
  return new Set(chosen.map(({ place }) => place).filter(canHeal));
}

function canHeal(place: ReceiverKind): boolean {
  return place === 'http' || place === 'https';
}

async function subscribeAll(stage: Stage, chosen: readonly Case[]): Promise<void> {
  const places = new Set(chosen.map(({ place }) => place));
  const wanted = [...places].flatMap((place) => {
    const scheme = place === 'https' ? 'https' : 'http';
    const open = stage.crowd.places[place];
    return Array.from({ length: stage.size.lanes[place] }, (_, lane) => ({
      url: `${scheme}://127.0.0.1:${open[lane % open.length]}/hook`,
      events: `${place}.*`,
      concurrency: 1,
    }));
  });
  const one = async (): Promise<void> => {
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
      await stage.subject.subscribe(next);
    }
  };
  await Promise.all(Array.from({ length: subscribesAtOnce }, one));
}

/** Good answers: so many, at least one for each lane, and again where one was late. */
async function heal(stage: Stage, place: ReceiverKind, attempts: number): Promise<void> {
  const { subject, crowd, size } = stage;
  await crowd.behave('well');
  const lanes = size.lanes[place];
  const events = Math.max(Math.ceil(attempts / lanes), 1);
  for (let times = 0; times < healsMax; times += 1) {
    const before = await subject.delivered();
    await subject.publish(`${place}.well`, events);
    stage.healed += events * lanes;
    stage.made += events * lanes;
    const missing = await subject.drain(stage.made, size.patienceMs);
    if (missing > 0) throw new Error(`${missing} attempts at good receivers do not end`);
    if ((await subject.delivered()) - before === events * lanes) return;
  }
  stage.unhealed.push(place);
}

async function meet(
  stage: Stage,
  one: Case,
): Promise<{ attempts: number; pending: number; seen: Seen }> {
  const { subject, crowd, size } = stage;
  const lanes = size.lanes[one.place];
  const events = Math.ceil((one.isEndless === true ? size.endless : size.other) / lanes);
  const isFailing = !one.is.startsWith('2');
  const atOnce = isFailing && canHeal(one.place) ? failuresMax : events;
  const all: Seen[] = [];
  let [made, pending] = [0, 0];
  while (made < events && pending === 0) {
    await crowd.behave(cases.indexOf(one));
    const count = Math.min(atOnce, events - made);
    await subject.publish(one.event, count);
    made += count;
    stage.made += count * lanes;
    pending = await subject.drain(stage.made, size.patienceMs);
    all.push(await (pending > 0 ? crowd.look() : crowd.report()));
    if (isFailing && canHeal(one.place) && pending === 0) await heal(stage, one.place, 0);
    await readLag(stage, 'now and then');
  }
  return { attempts: made * lanes, pending, seen: all.reduce(addSeen) };
}

function addSeen(a: Seen, b: Seen): Seen {
  return {
    accepted: a.accepted + b.accepted,
    requests: a.requests + b.requests,
    strays: a.strays + b.strays,
    most: Math.max(a.most, b.most),
    heldMs: Math.max(a.heldMs, b.heldMs),
    left: a.left + b.left,
  };
}

/** The worst that was ever read: each reading speaks of the last half minute or more. */
async function readLag(stage: Stage, when: 'now' | 'now and then'): Promise<void> {
  if (when !== 'now' && performance.now() < stage.lagReadMs + lagEveryMs) return;
  stage.lagReadMs = performance.now();
  const { p99, worst } = await stage.subject.lag();
  stage.lag = { p99: Math.max(p99, stage.lag.p99), worst: Math.max(worst, stage.lag.worst) };
}

/**
 * The least that it weighs while it rests: idle connections are closed by then, and what is garbage is
 * collected when the runtime finds the time, which is chance for any single look.
 */
async function restAndWeigh({ subject, size }: Stage): Promise<Weight> {
  let least = subject.weigh();
  const lastMs = performance.now() + size.restMs;
  while (performance.now() < lastMs) {
    await wait(weighEveryMs);
    const now = subject.weigh();
    least = now.rssMiB < least.rssMiB ? now : { ...least, open: now.open };
  }
  return { ...least, peakMiB: subject.weigh().peakMiB };
}
