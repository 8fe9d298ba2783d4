// A model of a disk that guarantees no more than POSIX does: writes without a sync may survive or not, in any order and
// by sector; a name survives for certain only after a sync of its folder.
import { dirname } from 'node:path';
import type { DiskCall } from './recording.ts';

const sectorBytes = 512;

interface Inode {
  /** The content that survives for certain. */
  durable: Buffer;
  pending: Change[];
}

type Change = { kind: 'write'; at: number; data: Buffer } | { kind: 'truncate'; size: number };
type Naming =
  | { kind: 'link'; path: string; inode: Inode | 'folder' }
  | { kind: 'unlink'; path: string }
  | { kind: 'rename'; path: string; to: string; inode: Inode | 'folder' };

/** What survives of pending changes: nothing, all, a random half, random sectors, or a prefix. */
export const fates = ['none', 'all', 'half', 'torn', 'prefix'] as const;
export type Fate = (typeof fates)[number];

/** Contents of files by path; folders are undefined. */
export type Image = ReadonlyMap<string, Buffer | undefined>;

export class Disk {
  readonly #names = new Map<string, Inode | 'folder'>([['', 'folder']]);
  readonly #durableNames = new Map<string, Inode | 'folder'>([['', 'folder']]);
  #namings: Naming[] = [];

  apply(call: DiskCall): void {
    switch (call.kind) {
      case 'write':
        this.#change(call.path, { kind: 'write', at: call.at, data: call.data });
        break;
      case 'truncate':
        this.#change(call.path, { kind: 'truncate', size: call.size });
        break;
      case 'sync':
        this.#sync(call.path);
        break;
      case 'create':
      case 'folder': {
        const inode =
          call.kind === 'folder' ? 'folder' : { durable: Buffer.alloc(0), pending: [] as Change[] };
        this.#names.set(call.path, inode);
        this.#namings.push({ kind: 'link', path: call.path, inode });
        break;
      }
      case 'unlink':
        this.#names.delete(call.path);
        this.#namings.push({ kind: 'unlink', path: call.path });
        break;
      case 'rename': {
        const inode = this.#names.get(call.path);
        if (inode === undefined)
          throw new Error(`Cannot rename ${call.path}: it was never created`);
        this.#names.delete(call.path);
        this.#names.set(call.to, inode);
        this.#namings.push({ kind: 'rename', path: call.path, to: call.to, inode });
        break;
      }
    }
  }

  /** The disk as the next start may find it. */
  image(fate: Fate, random: () => number): Image {
    const names = new Map(this.#durableNames);
    for (const naming of chosen(this.#namings, fate, random)) name(names, naming);
    const image = new Map<string, Buffer | undefined>();
    for (const [path, inode] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (path !== '' && !image.has(parentOf(path))) continue; // Its folder does not exist.
      image.set(path, inode === 'folder' ? undefined : contentOf(inode, fate, random));
    }
    return image;
  }

  #change(path: string, change: Change): void {
    const inode = this.#names.get(path);
    if (inode === undefined || inode === 'folder')
      throw new Error(`Cannot change "${path}": it was never created`);
    inode.pending.push(change);
  }

  #sync(path: string): void {
    const inode = this.#names.get(path);
    if (inode === undefined) return; // An unlinked file: nothing can read it after a restart.
    if (inode === 'folder') {
      const isHere = (naming: Naming): boolean => parentOf(naming.path) === path;
      for (const naming of this.#namings.filter(isHere)) name(this.#durableNames, naming);
      this.#namings = this.#namings.filter((naming) => !isHere(naming));
      return;
    }
    inode.durable = applied(inode.durable, inode.pending);
    inode.pending = [];
  }
}

function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === '/' ? '' : parent;
}

function name(names: Map<string, Inode | 'folder'>, naming: Naming): void {
  switch (naming.kind) {
    case 'link':
      names.set(naming.path, naming.inode);
      break;
    case 'unlink':
      names.delete(naming.path);
      break;
    case 'rename':
      names.delete(naming.path);
      names.set(naming.to, naming.inode);
      break;
  }
}

function chosen<T>(all: readonly T[], fate: Fate, random: () => number): readonly T[] {
  switch (fate) {
    case 'none':
      return [];
    case 'all':
      return all;
    case 'half':
    case 'torn':
      return all.filter(() => random() < 0.5);
    case 'prefix':
      return all.slice(0, Math.floor(random() * (all.length + 1)));
  }
}

function contentOf({ durable, pending }: Inode, fate: Fate, random: () => number): Buffer {
  if (fate !== 'torn') return applied(durable, chosen(pending, fate, random));
  return applied(
    durable,
    pending
      .flatMap((change) => (change.kind === 'write' ? sectorsOf(change) : [change]))
      .filter(() => random() < 0.5),
  );
}

function sectorsOf({ at, data }: { at: number; data: Buffer }): Change[] {
  const pieces: Change[] = [];
  for (let from = at; from < at + data.length;) {
    const to = Math.min(at + data.length, (Math.floor(from / sectorBytes) + 1) * sectorBytes);
    pieces.push({ kind: 'write', at: from, data: data.subarray(from - at, to - at) });
    from = to;
  }
  return pieces;
}

function applied(content: Buffer, changes: readonly Change[]): Buffer {
  if (changes.length === 0) return content;
  let size = content.length;
  const ends = changes.map((change) =>
    change.kind === 'write' ? change.at + change.data.length : change.size,
  );
  const result = Buffer.alloc(Math.max(size, ...ends));
  content.copy(result);
  for (const change of changes) {
    if (change.kind === 'write') {
      change.data.copy(result, change.at);
      size = Math.max(size, change.at + change.data.length);
    } else {
      if (change.size < size) result.fill(0, change.size, size);
      size = change.size;
    }
  }
  return result.subarray(0, size);
}
