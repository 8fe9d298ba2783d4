// The source and the machine that a run of the proof used.
import { execFileSync } from 'node:child_process';
import { arch, availableParallelism, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

export interface Checkout {
  commit: string;
  /** There are uncommitted changes, apart from files that runs generate. */
  isChanged: boolean;
}

const pages = ['proof.md', 'proof', 'benchmarks.md', 'benchmarks'];

export function checkout(): Checkout {
  const cwd = join(import.meta.dirname, '..', '..', '..');
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  try {
    const changed = git(
      'status',
      '--porcelain',
      '--',
      '.',
      ...pages.map((path) => `:!docs/${path}`),
    );
    return { commit: git('rev-parse', '--short', 'HEAD'), isChanged: changed !== '' };
  } catch {
    return { commit: 'unknown', isChanged: true };
  }
}

/** Removes folders of this machine from a text; files of the checkout keep their relative path. */
export function withoutFolders(text: string): string {
  return text
    .replaceAll(
      /(?:file:\/\/|(?<![\w./:]))(?:\/[\w.@+-]+)+\/(?=(?:node_modules|src|test|bench|tools)\/)/g,
      '',
    )
    .replaceAll(/(?:file:\/\/)?\/(?:dev\/shm|tmp|var\/folders)\/[^\s"'\\)]+/g, '…');
}

export function machine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  const system = `${type()} ${release().split('-')[0]} ${arch()}`;
  return `${availableParallelism()} cores, ${gib} GiB, ${system}, Node ${process.versions.node}`;
}
