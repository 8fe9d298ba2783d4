// A program in a process group of its own, and everything that it starts there: when it has ended, when its
// time is over, and when we end ourselves, the whole group is gone. Nothing of it may outlive us.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

export interface GroupOptions {
  /** What Node gets. */
  args: readonly string[];
  mostMs: number;
  /** It takes what others leave of the machine. */
  isPatient?: boolean;
  /** Besides what this process has. */
  env?: Readonly<Record<string, string>>;
  /** Told each line that it writes to stderr. */
  onLine?: (line: string) => void;
}

export interface GroupEnd {
  /** All that it wrote to stdout. */
  out: string;
  /** How it failed; undefined: it ended with 0. */
  failed: string | undefined;
}

const running = new Set<number>();
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function runGroup(options: GroupOptions): Promise<GroupEnd> {
  const { args, mostMs, isPatient = false, env = {}, onLine = () => undefined } = options;
  const child = spawn(process.execPath, [...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, ...env },
  });
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  if (pid !== undefined && isPatient) setPriority(pid, constants.priority.PRIORITY_LOW);
  let isLate = false;
  const clock = setTimeout(() => {
    isLate = true;
    endGroup(pid);
  }, mostMs);
  createInterface(child.stderr).on('line', onLine);
  const ended = new Promise<string | undefined>((resolve, reject) => {
    // Whoever is left of its group may hold our end of the pipes, which then would never close.
    child.on('exit', () => endGroup(pid));
    child.on('error', reject).on('close', (code, signal) => {
      if (isLate) resolve(`did not end within ${mostMs / 1000} s`);
      else resolve(code === 0 ? undefined : `ended with ${signal ?? `exit ${code}`}`);
    });
  });
  try {
    const [out, failed] = await Promise.all([text(child.stdout), ended]);
    return { out, failed };
  } finally {
    clearTimeout(clock);
  }
}

/** Ctrl-C in the terminal is for us alone, since each group has a session of its own. */
export function endGroupsWithUs(): void {
  process.on('exit', () => {
    for (const pid of running) endGroup(pid);
  });
  for (const signal of endSignals) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  running.delete(pid);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left of it.
  }
}
