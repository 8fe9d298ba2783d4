// What processes use, as Linux counts it.
import { readFileSync } from 'node:fs';

/** Of a clock tick, which is what /proc counts in on every machine of today. */
const tickUs = 10_000;

export interface StartedCpu {
  /** Since then, by all of them, of all their threads. */
  usedUs(): number;
}

export function startedCpu(pids: readonly number[]): StartedCpu {
  const all = (): number => pids.reduce((sum, pid) => sum + cpuUs(pid), 0);
  const before = all();
  return { usedUs: () => all() - before };
}

function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // After the name, which may hold anything, in brackets: state is the 3rd field, utime and stime 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

export function rssMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** The most since it was started. */
export function peakRssMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}
