// Cuts the power at every call that a node makes to the disk: rebuilds what the disk may hold then, opens it
// with the real store, and looks whether everything that was promised before is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileCache } from '../../cli/ringback-process.ts';
import { virtualWorld } from '../../engine/virtual-world.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import { aftermath } from '../crash/aftermath.ts';
import { readHistory } from '../crash/history.ts';
import { withScratch } from '../crash/points.ts';
import type { Finding } from '../finding.ts';
import { Disk, fates, type Fate, type Image } from './disk.ts';
import { readRecording, type DiskCall } from './recording.ts';
import { compileShim } from './shim.ts';

export interface PowerOptions {
  /** About so many images are looked at, spread over all calls. */
  images: number;
  rounds?: number;
  seed?: number;
  changes?: readonly SourceChange[];
  /** Stop at the first image that breaks a promise. */
  isControl?: boolean;
}

const part = 'power loss';
const historyName = '/history';
/** Every so many images everything is taken to its end, not only looked at. */
const finishEvery = 20;

/** The log of the database is folded into it 70 times as often as usual, so that this is seen often. */
export const smallLog: SourceChange = {
  file: 'src/core/limits/store-limits.ts',
  find: 'storeLogPages: 4_000',
  replace: 'storeLogPages: 60',
};

/** The negative control: a commit returns before it is on the disk. */
export const lazySync: SourceChange = {
  file: 'src/store/sqlite/connection/connect.ts',
  find: 'pragma synchronous = full',
  replace: 'pragma synchronous = normal',
};

export async function cutPower(options: PowerOptions): Promise<Finding> {
  return withScratch(async (scratch) => {
    const shim = compileShim(scratch);
    if (shim.kind === 'missing') return { part, figures: {}, violations: [], skipped: shim.why };
    const calls = record(scratch, shim.path, options);
    return examine(scratch, calls, options);
  });
}

/** Runs the node under the shim. */
function record(
  scratch: string,
  shim: string,
  { rounds = 3, changes = [] }: PowerOptions,
): DiskCall[] {
  const root = join(scratch, 'root');
  const log = join(scratch, 'log');
  mkdirSync(root);
  const { PATH = '', HOME = '' } = process.env;
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, 'child.ts'),
      join(root, 'data'),
      `${root}${historyName}`,
      `${rounds}`,
    ],
    {
      env: {
        PATH,
        HOME,
        NODE_COMPILE_CACHE: compileCache,
        LD_PRELOAD: shim,
        PROOF_ROOT: root,
        PROOF_LOG: log,
        ...changedSource([smallLog, ...changes]),
      },
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`Cannot record a node's life: ${stderr}`);
  return readRecording(readFileSync(log), root);
}

async function examine(
  scratch: string,
  calls: readonly DiskCall[],
  { images, seed = 1, isControl = false }: PowerOptions,
): Promise<Finding> {
  const world = virtualWorld({ seed });
  const random = (): number => world.random();
  const disk = new Disk();
  const seen = new Set<string>();
  const violations: string[] = [];
  let told = '';
  let looked = 0;
  const share = images / calls.length / fates.length;
  for (const [index, call] of calls.entries()) {
    if (call.path === historyName) {
      if (call.kind === 'write') told += call.data.toString();
      continue;
    }
    disk.apply(call);
    for (const fate of fates) {
      if (share < 1 && random() >= share) continue;
      for (let more = 0; more < Math.max(1, variantsOf(fate, share)); more += 1) {
        const image = disk.image(fate, random);
        if (!isNew(seen, image, told)) continue;
        looked += 1;
        const how = looked % finishEvery === 0 ? 'finish' : 'look';
        const flaws = await lookAt(scratch, { image, told, how });
        violations.push(...flaws.map((flaw) => `seed ${seed}, call ${index}, ${fate}: ${flaw}`));
        if (isControl && violations.length > 0) return findingOf();
      }
    }
  }
  return findingOf();

  function findingOf(): Finding {
    return { part, figures: { calls: calls.length, images: looked, seed }, violations };
  }
}

/** Only where chance has a say is a second look worth it. */
function variantsOf(fate: Fate, share: number): number {
  return fate === 'none' || fate === 'all' ? 1 : Math.round((share * 5 - 2) / 3);
}

/** The same files with the same promises were looked at before. */
function isNew(seen: Set<string>, image: Image, told: string): boolean {
  const hash = createHash('sha1');
  for (const [path, content] of image)
    hash.update(`${path} ${content?.length} `).update(content ?? '');
  const print = hash.update(told).digest('base64');
  if (seen.has(print)) return false;
  seen.add(print);
  return true;
}

interface Look {
  image: Image;
  told: string;
  how: 'look' | 'finish';
}

async function lookAt(scratch: string, { image, told, how }: Look): Promise<string[]> {
  const root = mkdtempSync(join(scratch, 'image-'));
  for (const [path, content] of image) {
    if (content === undefined) mkdirSync(`${root}${path}`, { recursive: true });
    else {
      mkdirSync(dirname(`${root}${path}`), { recursive: true });
      writeFileSync(`${root}${path}`, content);
    }
  }
  const dataDir = join(root, 'data');
  mkdirSync(dataDir, { recursive: true });
  const flaws = await aftermath({ dataDir, history: readHistory(told), how });
  rmSync(root, { recursive: true });
  return flaws;
}
