// The part of the proof about receivers that do what no receiver should.
import type { Finding, Part } from '../finding.ts';
import type { SourceChange } from '../controls/change-source.ts';
import { lookInProcess } from '../controls/run-controls.ts';
import { titleOf } from './cases.ts';
import { holdOne } from './hold.ts';
import { judge, type Bounds } from './judge.ts';
import { reuse } from './reuse.ts';
import { meetAll, timeoutMs, type Size } from './rounds.ts';

const full: Size = {
  endless: 500,
  other: 5_000,
  lanes: { http: 125, https: 50, deaf: 125, absent: 500 },
  warmUp: 5_000,
  restMs: 20_000,
  patienceMs: 120_000,
};

const small: Size = {
  endless: 8,
  other: 8,
  lanes: { http: 8, https: 4, deaf: 8, absent: 8 },
  warmUp: 8,
  restMs: 0,
  patienceMs: 60_000,
};

const fullBounds: Bounds = {
  heldMaxMs: timeoutMs + 500,
  rssDriftMiBMax: 64,
  lateMax: 0.01,
  unhealedMax: 0,
};
/** On a machine that has other things to do nothing is ever in time. */
const anyTime: Bounds = {
  heldMaxMs: undefined,
  rssDriftMiBMax: undefined,
  lateMax: 1,
  unhealedMax: Infinity,
};

export const receivers: Part = {
  name: 'receivers',
  about:
    'The service runs in its own process with a timeout of 1 s and meets every hostile receiver of the ' +
    'catalogue (test/egress/receiver-behaviours.ts, tls-behaviours.ts) hundreds or thousands of times. Each ' +
    'attempt must end and be recorded as the catalogue says. None may hold its slot for longer than the ' +
    'deadline plus half a second, and nothing may be left over: no memory, no socket, no flood of log ' +
    'lines. No connection is reused after an unusual response, or for a request of another app. While 640 ' +
    'receivers of one app hang, every delivery of another app must arrive.',
  prove: async ({ scale, say }) => {
    if (scale === 'full')
      return [
        ...judge(await meetAll(full, { say }), fullBounds),
        await holdOne(),
        await reuse(),
        await lookAtHangingApp({ patienceMs: 45_000 })([]),
      ];
    return [...(await meetSome(someOfAll)), await reuse()];
  },
};

/** In `npm test`: test/e2e/app-fairness.test.ts. */
export function lookAtHangingApp({
  patienceMs,
}: {
  patienceMs: number;
}): (changes: readonly SourceChange[]) => Promise<Finding> {
  return lookInProcess(new URL('look-hanging-app.ts', import.meta.url), [`${patienceMs}`]);
}

/** One or two of each kind. */
const someOfAll = [
  'hangs after accept',
  'never ends its body',
  'never ends its empty headers',
  'never ends a chunk extension',
  'closes in its body',
  'redirects with 307',
  'has a certificate that has expired (https)',
  'answers well (https)',
  'does not listen',
];

/** For `npm test` and for controls: a few behaviours, a few times. */
export async function meetSome(
  does: readonly string[],
  { changes = [], ...more }: { changes?: readonly SourceChange[]; patienceMs?: number } = {},
): Promise<Finding[]> {
  const only: Size['only'] = (one) => does.includes(titleOf(one));
  return judge(await meetAll({ ...small, only, ...more }, { changes }), anyTime);
}
