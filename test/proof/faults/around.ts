// What else happens around a node: a second one on its folder, a copy of the folder, a backup while it works,
// a log without a reader, a storm of scrapes, a clock that is set, signals while work is under way.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runChild, startChild, status, type Serving } from '../../cli/ringback-process.ts';
import { header, receive, type Receiver } from '../../e2e/receiver.ts';
import { changedSource } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import type { Changes, Node } from './node.ts';
import {
  auth,
  brokenMs,
  key,
  listed,
  onNode,
  patiently,
  settled,
  statsOf,
  subscribe,
} from './node.ts';

const several = 5;
/** How long a receiver is waited for until it has something to hold. */
const heldMsMax = 60_000;

/** Refused, and the first one does not notice. */
export async function secondService(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'a second service on the same folder', changes }, async (node) => {
    await using serving = await node.start();
    await subscribe(serving, node.receiver);
    const env = { RINGBACK_DATA: node.data, RINGBACK_API_KEY: key, RINGBACK_PORT: '0' };
    for (let tried = 0; tried < 3; tried += 1) {
      await node.accept(serving);
      await using second = startChild(['serve'], { ...env, ...changedSource(changes) });
      const runs = second.says(/listens on/).then(
        () => 'it runs',
        () => undefined,
      );
      const code = await Promise.race([runs, second.ended]);
      const isRefused = code === 1 && second.err().includes('another Ringback process');
      if (!isRefused) node.violations.push(`I4: a second service on the folder: ${code}`);
      if (!isRefused) return;
    }
    await node.undelivered('beside a second service');
    duplicates(node, 'beside a second service');
  });
}

/** Both go on, each with what was there, and what one accepts is no business of the other. */
export async function clonedFolder(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'a copy of the data folder', changes }, async (node) => {
    {
      await using serving = await node.start();
      await subscribe(serving, node.receiver);
      for (let sent = 0; sent < several; sent += 1) await node.accept(serving);
      await settled(serving);
      serving.signal('SIGTERM');
      await serving.ended;
    }
    const copy = join(node.scratch, 'copy');
    cpSync(node.data, copy, { recursive: true });
    await using first = await node.start();
    await using second = await node.start({ RINGBACK_DATA: copy });
    for (let sent = 0; sent < several; sent += 1) {
      await node.accept(first);
      await node.accept(second);
    }
    await node.undelivered('of a copied folder');
    duplicates(node, 'of a copied folder');
    if (new Set(node.acked).size !== node.acked.length) {
      node.violations.push('I2: two events of a folder and its copy have one id');
    }
  });
}

/** All that was accepted before the backup began is in it, and is delivered by whoever starts on it. */
export async function liveBackup(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'backup under load, restored', changes }, async (node) => {
    const folder = join(node.scratch, 'restored');
    const file = join(folder, 'ringback.db');
    mkdirSync(folder);
    const before: string[] = [];
    {
      await using serving = await node.start();
      await subscribe(serving, node.receiver);
      const over = new AbortController();
      const load = async (): Promise<void> => {
        while (!over.signal.aborted) await node.accept(serving);
      };
      const loads = Array.from({ length: 4 }, load);
      while (node.acked.length < 200) await wait(5);
      before.push(...node.acked);
      const env = { RINGBACK_DATA: node.data, ...changedSource(changes) };
      const { code, err } = await runChild(['backup', file], env);
      over.abort();
      await Promise.all(loads);
      if (code !== 0) node.violations.push(`I1: the backup ended with ${code}: ${err}`);
      await node.undelivered('beside a backup');
      duplicates(node, 'beside a backup');
      serving.signal('SIGTERM');
      await serving.ended;
    }
    if (node.violations.length > 0) return;
    cpSync(join(node.data, 'encryption.key'), join(folder, 'encryption.key'));
    await using restored = await node.start({ RINGBACK_DATA: folder });
    const found = new Set(await listed(restored));
    const lost = before.filter((id) => !found.has(id));
    node.figures['accepted before the backup began'] = before.length;
    node.figures['events in the backup'] = found.size;
    if (lost.length > 0) node.violations.push(`I1: ${lost.length} events are not in the backup`);
    await settled(restored);
    const { totals } = await statsOf(restored);
    if (totals.delivered !== found.size || totals.published !== found.size) {
      node.violations.push(`I14: ${found.size} events in the backup, ${JSON.stringify(totals)}`);
    }
  });
}

/** Log and greeting go into a pipe that nobody reads, and that is full soon. */
export async function blockedLog(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'a log without a reader', changes }, async (node) => {
    const events = 1_500;
    await using serving = await node.start({ RINGBACK_LOG: 'trace', RINGBACK_LOG_FORMAT: 'json' });
    await subscribe(serving, node.receiver);
    const ended = serving.deafen();
    const one = async (): Promise<void> => {
      for (let sent = 0; sent < events / 5; sent += 1) await node.accept(serving);
    };
    await Promise.all(Array.from({ length: 5 }, one));
    await node.undelivered('while the log has no reader');
    duplicates(node, 'while the log has no reader');
    serving.signal('SIGTERM');
    const code = await Promise.race([ended, wait(60_000, 'nothing: it does not end')]);
    if (code !== 0) node.violations.push(`I11: with a full pipe a stop ended with ${code}`);
  });
}

/** Everybody scrapes at once; what is published meanwhile is delivered. */
export async function scrapeStorm(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'a storm of scrapes', changes }, async (node) => {
    await using serving = await node.start();
    await subscribe(serving, node.receiver);
    const over = new AbortController();
    let scrapes = 0;
    const scrape = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const found = await status(`${serving.url}/metrics`, { headers: auth });
        if (found !== 200) node.violations.push(`I11: a scrape was answered with ${found}`);
        scrapes += 1;
      }
    };
    const storm = Array.from({ length: 32 }, scrape);
    for (let sent = 0; sent < 60; sent += 1) await node.accept(serving);
    await node.undelivered('in a storm of scrapes');
    over.abort();
    await Promise.all(storm);
    node.figures['scrapes'] = scrapes;
    duplicates(node, 'in a storm of scrapes');
  });
}

const hourMs = 3_600_000;
const steps = [hourMs, -hourMs, 24 * hourMs, -24 * hourMs, 0];

/**
 * The machine's clock is set while it runs. What is published is delivered, once, whatever it says; what waits
 * for a retry is tried early when it is set forward. A clock that is set back is tried by `clockSetBack`.
 */
export async function clockSteps(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'the clock is set while it runs', changes }, async (node) => {
    const clock = join(node.scratch, 'clock');
    const options = `--import=${new URL('./clock-step.ts', import.meta.url).href}`;
    const changed = changedSource(changes);
    await using failing = await receive(() => (failing.requests.length > 3 ? 200 : 500));
    await using serving = await node.start({
      NODE_OPTIONS: `${changed.NODE_OPTIONS} ${options}`,
      PROOF_CLOCK: clock,
    });
    await subscribe(serving, node.receiver);
    for (const stepMs of steps) {
      writeFileSync(clock, String(stepMs));
      await wait(50);
      for (let sent = 0; sent < several; sent += 1) await node.accept(serving);
      await node.undelivered(`with a clock that was set by ${stepMs / hourMs} h`);
      const ready = await patiently(async () => fetch(`${serving.url}/readyz`), 200);
      await ready.arrayBuffer();
    }
    // The first wait is longer than anybody's patience: only the clock can end it.
    await subscribe(serving, failing, { retry: ['30m', '200ms', '200ms'] });
    await node.accept(serving);
    await failing.waitFor(1);
    await isPutOff(serving);
    if (failing.requests.length > 1)
      node.violations.push('void: it was tried before the clock was set');
    writeFileSync(clock, String(hourMs));
    if (!(await triedAgain(failing, node))) {
      node.violations.push('I18: the clock was set past a retry, and it is not tried');
      return;
    }
    await failing.waitFor(4);
    await settled(serving);
    node.figures['steps'] = steps.length + 1;
    duplicates(node, 'with a clock that is set');
  });
}

/**
 * The clock is a day ahead, is set back while work waits, and again while no service runs. Lanes that are limited,
 * ordered or wait for a retry have stored times of the wrong day: all of them must go on at once.
 */
export async function clockSetBack(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'the clock is set back a day', changes }, async (node) => {
    const clock = join(node.scratch, 'clock');
    const options = `--import=${new URL('./clock-step.ts', import.meta.url).href}`;
    const env = {
      NODE_OPTIONS: `${changedSource(changes).NODE_OPTIONS} ${options}`,
      PROOF_CLOCK: clock,
    };
    const set = async (ms: number): Promise<void> => {
      writeFileSync(clock, String(ms));
      await wait(50); // It is read every 20 ms.
    };
    await set(24 * hourMs);
    {
      await using serving = await node.start(env);
      // One attempt of each is made and fails, so that the next one waits for a time of tomorrow.
      const seen = new Map<string, number>();
      node.receiver.script = (request) => {
        const id = header(request, 'webhook-id');
        seen.set(id, (seen.get(id) ?? 0) + 1);
        return seen.get(id) === 1 ? 500 : 200;
      };
      await subscribe(serving, node.receiver, { rateLimit: 5, retry: ['1s'] });
      await subscribe(serving, node.receiver, { ordered: true, retry: ['1s'] });
      for (let sent = 0; sent < several; sent += 1) await node.accept(serving);
      await node.receiver.waitFor(2);
      await set(0);
      for (let sent = 0; sent < several; sent += 1) await node.accept(serving);
      await drained(node, serving, 'set back while it runs');
      await set(24 * hourMs);
      for (let sent = 0; sent < several; sent += 1) await node.accept(serving);
      await drained(node, serving, 'set forward');
      await node.accept(serving);
      serving.signal('SIGTERM');
      await serving.ended;
    }
    await set(0);
    await using serving = await node.start(env);
    for (let sent = 0; sent < several; sent += 1) await node.accept(serving);
    await drained(node, serving, 'set back while it was stopped');
  });
}

/** Nothing is pending any more. */
async function drained(node: Node, serving: Serving, when: string): Promise<void> {
  const lastMs = performance.now() + (node.isBroken ? brokenMs + retriedMs : drainMsMax);
  let { pending } = await statsOf(serving);
  while (pending > 0 && performance.now() < lastMs) {
    await wait(50);
    ({ pending } = await statsOf(serving));
  }
  if (pending > 0) node.violations.push(`I18: the clock was ${when}: ${pending} are pending`);
}

/** What the limited lane and the store's poll take at most. */
const retriedMs = 20_000;
const drainMsMax = 120_000;

/** The outcome of the first attempt is written: before that, the next one is not due at any time. */
async function isPutOff(serving: Serving): Promise<void> {
  for (let turn = 0; turn < putOffTurns; turn += 1) {
    const response = await fetch(`${serving.url}/deliveries`, { headers: auth });
    const { items } = (await response.json()) as { items: { nextAttemptAt?: string }[] };
    const laterMs = Date.now() + putOffMs;
    if (items.some(({ nextAttemptAt = 0 }) => new Date(nextAttemptAt).getTime() > laterMs)) return;
    await wait(20);
  }
  throw new Error('void: no delivery waits for its retry');
}

const putOffTurns = 3_000;
/** Less than the first wait, and more than any other. */
const putOffMs = 10 * 60_000;

async function triedAgain(failing: Receiver, { isBroken }: Node): Promise<boolean> {
  const lastMs = performance.now() + (isBroken ? brokenMs : 60_000);
  while (failing.requests.length < 2 && performance.now() < lastMs) await wait(10);
  return failing.requests.length > 1;
}

/** SIGTERM with work in flight repeats nothing; a second one ends it at once, and nothing is lost. */
export async function stopSignals(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'SIGTERM with work in flight', changes }, async (node) => {
    node.receiver.script = async () => {
      await wait(30);
      return 200;
    };
    for (let round = 0; round < 3; round += 1) {
      await using serving = await node.start();
      if (round === 0) await subscribe(serving, node.receiver);
      await Promise.all(Array.from({ length: 40 }, async () => node.accept(serving)));
      serving.signal('SIGTERM');
      const code = await serving.ended;
      if (code !== 0) node.violations.push(`I5: SIGTERM ended it with ${code}`);
    }
    duplicates(node, 'SIGTERM with work in flight');
    const held = Promise.withResolvers<200>();
    const came = Promise.withResolvers<true>();
    node.receiver.script = async () => {
      came.resolve(true);
      return held.promise;
    };
    {
      await using serving = await node.start();
      await node.accept(serving);
      const patienceMs = node.isBroken ? brokenMs : heldMsMax;
      if (!(await Promise.race([came.promise, wait(patienceMs, false, { ref: false })]))) {
        node.violations.push('I1: nothing came before two SIGTERM');
      }
      serving.signal('SIGTERM');
      await serving.says(/Stopping/);
      serving.signal('SIGTERM');
      const code = await serving.ended;
      if (code !== 'SIGTERM') node.violations.push(`I5: a second SIGTERM ended it with ${code}`);
    }
    held.resolve(200);
    await using serving = await node.start();
    await node.undelivered('after two SIGTERM');
    await settled(serving);
  });
}

/** No receiver got anything twice: nothing was killed here, and no answer was lost. */
function duplicates({ receiver, violations }: Node, when: string): void {
  const seen = new Set<string>();
  const again = receiver.requests.filter((request) => {
    const id = header(request, 'webhook-id');
    const isAgain = seen.has(id);
    seen.add(id);
    return isAgain;
  });
  if (again.length > 0) violations.push(`I5: ${when}: ${again.length} came twice`);
}
