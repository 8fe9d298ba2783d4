// Attacks by malicious HTTP clients on the real service, in its own process.
import type { Finding, Part } from '../finding.ts';
import { keepBytes, sendBadBodies } from './bodies.ts';
import { pipeline, trickParsers } from './bytes.ts';
import { crowdFull, crowdReads, crowdSmall } from './crowd-reads.ts';
import { keepBusy } from './busy.ts';
import { countWork, fullSizes, smallSizes } from './counted-work.ts';
import { useForeignIds } from './foreign.ts';
import { beIdle, idleFull, idleSmall } from './idle.ts';
import { inject, injectFull, injectPretty } from './injection.ts';
import { loopEnv, publishInALoop } from './loop.ts';
import { overreach, proxiedEnv } from './overreach.ts';
import { appIdEnv, askWithAppId, sayTwice } from './pollution.ts';
import { quick } from './quick.ts';
import { besiege } from './siege.ts';
import { sendSecrets } from './secrets.ts';
import { askFromElsewhere, sitesEnv } from './sites.ts';
import { beSlow, readNothing, slowFull, slowSmall } from './slow.ts';
import { attack } from './target.ts';
import { timeKeys } from './timing.ts';

export const clients: Part = {
  name: 'clients',
  about:
    'Malicious clients: slow, idle, not reading, pipelining, smuggling; with bodies that are too large, too ' +
    'deep or compressed, or expensive to validate; from foreign sites; with text that ends lines, with ' +
    'duplicated values, with ids of another app; with callbacks to the service itself, and attempts to ' +
    'manage keys of others. All other clients are served meanwhile, nothing forbidden is done, and nothing ' +
    'is held afterwards.',
  prove: async ({ scale, say }) => {
    const findings: Finding[] = [];
    for (const [name, prove] of Object.entries(scale === 'full' ? full : small)) {
      say(name);
      findings.push(await prove());
    }
    return findings;
  },
};

type Proofs = Record<string, () => Promise<Finding>>;

const full: Proofs = {
  idle: async () => attack('clients: idle connections', {}, async (on) => beIdle(on, idleFull)),
  slow: async () => attack('clients: slow senders', {}, async (on) => beSlow(on, slowFull)),
  deaf: async () =>
    attack('clients: slow readers', {}, async (on) => readNothing(on, { count: 50, streams: 150 })),
  bytes: async () =>
    attack('clients: requests as bytes', {}, async (on) => {
      await trickParsers(on);
      await pipeline(on, 20);
    }),
  bodies: async () =>
    attack('clients: bodies', {}, async (on) => {
      await besiege(on, { name: 'bad bodies', rounds: 2 }, async () => sendBadBodies(on, 3));
      await keepBytes(on);
    }),
  sites: async () =>
    attack('clients: foreign sites', { env: sitesEnv }, async (on) => askFromElsewhere(on)),
  crowd: async () =>
    attack('clients: a crowd of reads', {}, async (on) => crowdReads(on, crowdFull)),
  loop: async () => attack('clients: events in a loop', { env: loopEnv }, publishInALoop),
  foreign: async () => attack('clients: ids of another app', {}, useForeignIds),
  overreach: async () =>
    attack('clients: more than a key gives', { env: proxiedEnv }, async (on) =>
      overreach(on, { ids: 2_000 }),
    ),
  twice: async () => attack('clients: things said twice', {}, sayTwice),
  both: async () =>
    attack('clients: keys that must come with an app', { env: appIdEnv }, askWithAppId),
  inject: async () =>
    attack('clients: texts that end lines', {}, async (on) => inject(on, injectFull)),
  pretty: async () => injectPretty({}),
  secrets: async () => attack('clients: secrets in odd places', {}, sendSecrets),
  work: async () => countWork(fullSizes),
  busy: async () => keepBusy(),
  timing: async () => timeKeys({ rounds: 7, samples: 3_000 }),
};

/** One service for all attacks that can share it, with shorter timeouts. */
const small: Proofs = {
  small: async () =>
    attack('clients: in small', { changes: quick }, async (on) => {
      await beIdle(on, idleSmall);
      await Promise.all([beSlow(on, slowSmall), trickParsers(on)]);
      await crowdReads(on, crowdSmall);
    }),
  work: async () => countWork(smallSizes),
  overreach: async () =>
    attack('clients: more than a key gives, in small', { env: proxiedEnv }, overreach),
};
