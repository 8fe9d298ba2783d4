// How much CPU time the hypervisor gave to others while this machine had work: on a crowded host,
// time limits of seconds mean little.
import { readFileSync } from 'node:fs';

/** In ticks since boot, over all cores. */
export interface CpuTimes {
  used: number;
  stolen: number;
}

/** Only Linux reports it; elsewhere it counts as 0. */
export function readCpuTimes(path = '/proc/stat'): CpuTimes {
  try {
    return parseCpuTimes(readFileSync(path, 'utf8'));
  } catch {
    return { used: 0, stolen: 0 };
  }
}

/**
 * Fields of the first line: cpu, user, nice, system, idle, iowait, irq, softirq, steal; guest time
 * is included in user.
 */
export function parseCpuTimes(text: string): CpuTimes {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = (
    text.split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .map(Number);
  return { used: user + nice + system + irq + softirq, stolen };
}

export function stolenShare(before: CpuTimes, after: CpuTimes): number {
  const stolen = after.stolen - before.stolen;
  const wanted = after.used - before.used + stolen;
  return wanted > 0 ? stolen / wanted : 0;
}
