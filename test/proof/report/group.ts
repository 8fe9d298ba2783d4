// Runs a program in its own process group. The whole group is killed when the program has ended, when its time is over,
// and when this process ends, so that nothing outlives it.
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

export interface GroupOptions {
  /** Arguments for Node. */
  args: readonly string[];
  mostMs: number;
  /** Runs at the lowest priority. */
  isPatient?: boolean;
  /** In addition to this process's environment. */
  env?: Readonly<Record<string, string>>;
  /** Called for each line on stderr. */
  onLine?: (line: string) => void;
}

export interface GroupEnd {
  /** Its output on stdout. */
  out: string;
  /** How it failed; undefined if it exited with 0. */
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
    // Other processes of the group may keep the pipes open, which would then never close.
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

/** Needed because Ctrl-C in a terminal only reaches this process: each group has its own session. */
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
    // The group has already ended.
  }
}
