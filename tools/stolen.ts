// How much of the time in which this machine had something to compute was given to others: on a virtual
// machine whose host is crowded, limits of seconds mean little.
import { readFileSync } from 'node:fs';

/** In ticks since the machine started, over all cores. */
export interface CpuTimes {
  used: number;
  stolen: number;
}

/** Only Linux tells; elsewhere nothing is known to be stolen. */
export function readCpuTimes(path = '/proc/stat'): CpuTimes {
  try {
    return parseCpuTimes(readFileSync(path, 'utf8'));
  } catch {
    return { used: 0, stolen: 0 };
  }
}

/** Its first line: cpu, user, nice, system, idle, iowait, irq, softirq, steal; what guests used is in user, too. */
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
