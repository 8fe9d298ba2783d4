// The part of the proof with the most events: they pass through a real service that is killed repeatedly.
import type { Part } from '../finding.ts';
import { publishUnderKills } from './run.ts';

const fullEvents = 300_000;
const smallEvents = 1_000;
/** The time limit in `npm run proof`. */
const mostMs = 8 * 60_000;

export const kills: Part = {
  name: 'kills',
  about:
    'Three hundred thousand events are published in batches with idempotency keys and delivered to four ' +
    'receivers, through one service on SQLite and a real disk. The service is killed or stopped again and ' +
    'again, also before it listens and while a publish waits for its response. Clients repeat requests that ' +
    'were not answered. Every byte is compared.',
  prove: async ({ scale, seed, say }) => {
    const isFull = scale === 'full';
    const events = isFull ? fullEvents : smallEvents;
    const killEveryMs = isFull ? { least: 5_000, most: 12_000 } : { least: 50, most: 150 };
    const endsMax = isFull ? Infinity : 1;
    return [await publishUnderKills({ events, seed, killEveryMs, endsMax, mostMs, say })];
  },
};
