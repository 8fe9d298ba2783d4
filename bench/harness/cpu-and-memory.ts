// CPU and memory of processes, as Linux counts them.
import { readFileSync } from 'node:fs';

/** The clock tick of /proc, the same on all current machines. */
const tickUs = 10_000;

export interface StartedCpu {
  /** CPU time used since the start, by all threads of all processes. */
  usedUs(): number;
}

export function startedCpu(pids: readonly number[]): StartedCpu {
  const all = (): number => pids.reduce((sum, pid) => sum + cpuUs(pid), 0);
  const before = all();
  return { usedUs: () => all() - before };
}

function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // After the name in parentheses, which may contain anything: state is field 3, utime and stime
  // are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

export function rssMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** The maximum since it was started. */
export function peakRssMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}
