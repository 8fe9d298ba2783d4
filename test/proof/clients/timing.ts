// The time to refuse a key must not reveal anything about it: whether it is wrong from the first character or only
// in the last, unknown, revoked, or of another app. This measures the check itself, in this process: over HTTP, a
// difference of microseconds would disappear in the noise.
//
// An early exit from the comparison cannot be measured here, and does no harm: keys are compared by their SHA-256,
// and an attacker cannot control how many leading bytes of two hashes agree. An early exit before the hash could be
// measured; the control adds one. Whether an id exists is no secret, since ids appear in lists and logs. An id that
// was not used lately costs a lookup in the store, so all ids here are used constantly.
import { crc32 } from 'node:zlib';
import { base62, makeKey } from '../../../src/core/domain/key.ts';
import { realWorld } from '../../../src/core/base/world.ts';
import { createIdentifier, type Identifier } from '../../../src/engine/access/identify.ts';
import { revokeKey } from '../../../src/engine/access/keys.ts';
import { mountContract } from '../../api/mount-contract.ts';
import type { Finding } from '../finding.ts';

export interface TimingOptions {
  rounds: number;
  /** Measurements of each kind of key in a round. */
  samples: number;
}

/** Keys checked in one measurement: a single check takes about as long as the resolution of the clock. */
const keysAtOnce = 16;
/** The threshold of dudect for t; a relative difference below `partMost` is ignored. */
const tMost = 4.5;
const partMost = 0.05;
/** The part of the samples to keep: the slowest are noise of the machine. */
const kept = 0.7;

export async function timeKeys({ rounds, samples }: TimingOptions): Promise<Finding> {
  await using service = await mountContract(nothing);
  const { context } = service;
  const onTouchError = (error: unknown): never => {
    throw error;
  };
  const identifier = createIdentifier({ world: realWorld(), store: context.store, onTouchError });
  const key = await service.keyWith('read');
  const revoked = await service.keyWith('read');
  await revokeKey(context, context.defaultApp, revoked.slice(0, 12));
  const { key: foreign } = await service.newApp('another');
  const kinds: Record<string, string> = {
    'wrong from the first character': makeKey(realWorld(), idOf(key)).key,
    'wrong in the last one only': nearly(key),
    unknown: makeKey(realWorld()).key,
    revoked,
    'another app’s, and wrong': makeKey(realWorld(), idOf(foreign)).key,
  };
  const names = Object.keys(kinds);
  const figures: Finding['figures'] = {};
  const leaks = new Map<string, number>(names.map((name) => [name, 0]));
  const parts = new Map<string, number[]>(names.map((name) => [name, []]));
  await measure(identifier, kinds, samples); // Warm-up: compiles the measured code.
  for (let round = 0; round < rounds; round += 1) {
    const times = await measure(identifier, kinds, samples);
    const [base = []] = times.values();
    for (const [name, own] of times) {
      const { t, part } = welch(own, base);
      parts.get(name)?.push(part);
      const isSeen = Math.abs(t) > tMost && Math.abs(part) > partMost;
      leaks.set(name, (leaks.get(name) ?? 0) + (isSeen ? Math.sign(part) : 0));
    }
  }
  for (const [name, all] of parts) {
    const middle = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
    figures[`${name}: takes more by, %`] = Math.round(middle * 1_000) / 10;
  }
  figures['measurements'] = rounds * samples * names.length;
  // Noise of a busy machine may show a difference in one round, but not in most of them.
  const seen = [...leaks].filter(([, count]) => Math.abs(count) >= Math.ceil(rounds * 0.8));
  const violations = seen.map(([name]) => `timing: a key (${name}) is refused in a different time`);
  return { part: 'clients: timing of keys', figures, violations };
}

const nothing = { openapi: '3.1.0', info: { title: 'None', version: '1' }, paths: {} };

function idOf(key: string): string {
  return key.slice('rbk_'.length, 'rbk_'.length + 8);
}

/** Another secret whose checksum is right. */
function nearly(key: string): string {
  const body = key.slice(0, -6);
  const changed = body.slice(0, -1) + (body.endsWith('0') ? '1' : '0');
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, crc32(changed));
  return changed + base62(bytes, 6);
}

/** Measures all kinds in turn, so that noise affects all of them alike. */
async function measure(
  identifier: Identifier,
  kinds: Readonly<Record<string, string>>,
  samples: number,
): Promise<Map<string, number[]>> {
  const entries = Object.entries(kinds);
  const times = new Map<string, number[]>(entries.map(([name]) => [name, []]));
  for (let n = 0; n < samples; n += 1) {
    for (let i = 0; i < entries.length; i += 1) {
      const [name = '', key = ''] = entries[(i + n) % entries.length] ?? [];
      const began = process.hrtime.bigint();
      for (let each = 0; each < keysAtOnce; each += 1) {
        if ((await identifier.identify(key)) !== undefined)
          throw new Error(`A key ${name} was let in`);
      }
      times.get(name)?.push(Number(process.hrtime.bigint() - began));
    }
  }
  for (const [name, all] of times) {
    times.set(name, all.toSorted((a, b) => a - b).slice(0, Math.floor(samples * kept)));
  }
  return times;
}

/** Welch's t, and the relative difference of the means. */
function welch(one: readonly number[], other: readonly number[]): { t: number; part: number } {
  const [a, b] = [moments(one), moments(other)];
  const spread = Math.sqrt(a.variance / one.length + b.variance / other.length);
  return { t: (a.mean - b.mean) / spread, part: (a.mean - b.mean) / b.mean };
}

function moments(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const squares = values.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return { mean, variance: squares / Math.max(values.length - 1, 1) };
}
