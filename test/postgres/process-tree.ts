// Signals a process together with all its descendants. PostgreSQL gives each of its processes its own
// session, so a signal to the process group would reach only the first.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

interface Row {
  pid: number;
  parent: number;
}

/** The running processes of this family, the oldest first. Zombies do not count. */
export function familyOf(pid: number): number[] {
  const rows = process.platform === 'linux' ? linuxProcesses() : otherProcesses();
  const family = rows.some((row) => row.pid === pid) ? [pid] : [];
  for (const member of family) {
    family.push(...rows.filter((row) => row.parent === member).map((row) => row.pid));
  }
  return family;
}

/** Ignores processes that have ended meanwhile; throws any other error. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

/** Stops a whole family, the oldest first, so that none can fork while its children are listed. */
export function freezeFamily(pid: number): number[] {
  let frozen: number[] = [];
  for (;;) {
    const family = frozen.length === 0 ? [pid] : familyOf(pid);
    const awake = family.filter((member) => !frozen.includes(member));
    if (awake.length === 0) return frozen;
    signalAll(awake, 'SIGSTOP');
    frozen = [...frozen, ...awake];
  }
}

/** Slim images have no `ps`. The name is in brackets, and may contain brackets and blanks itself. */
function linuxProcesses(): Row[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const stat = readIfThere(`/proc/${pid}/stat`);
    return parsed(`${pid} ${stat.slice(stat.lastIndexOf(')') + 1)}`);
  });
}

function otherProcesses(): Row[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,stat=,ppid='], { encoding: 'utf8' });
  return text.split('\n').flatMap(parsed);
}

function parsed(line: string): Row[] {
  const [pid, state, parent] = line.trim().split(/\s+/);
  if (parent === undefined || state === undefined || /^[ZX]/.test(state)) return [];
  return [{ pid: Number(pid), parent: Number(parent) }];
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process ended after the folder was read.
  }
}
