// Negative controls: each breaks the product in a way that could happen by mistake, and the attack meant for it
// must detect that.
import type { SourceChange } from '../controls/change-source.ts';
import { lookInProcess, type LookControl } from '../controls/run-controls.ts';
import { sendBadBodies } from './bodies.ts';
import { trickParsers } from './bytes.ts';
import { crowdReads, crowdSmall } from './crowd-reads.ts';
import { useForeignIds } from './foreign.ts';
import { beIdle, idleSmall } from './idle.ts';
import { inject } from './injection.ts';
import { loopEnv, publishInALoop } from './loop.ts';
import { overreach, proxiedEnv } from './overreach.ts';
import { appIdEnv, askWithAppId, sayTwice } from './pollution.ts';
import { quick } from './quick.ts';
import { sendSecrets } from './secrets.ts';
import { askFromElsewhere, sitesEnv } from './sites.ts';
import { beSlow, readNothing, slowSmall } from './slow.ts';
import { attack, type Attempt } from './target.ts';

type Look = LookControl['look'];

function looking(
  body: (attempt: Attempt) => Promise<void>,
  { env = {}, own = [] }: { env?: Record<string, string>; own?: readonly SourceChange[] } = {},
): Look {
  return async (changes) =>
    attack('clients: control', { changes: [...own, ...changes], env }, body);
}

const slowly = looking(async (on) => beSlow(on, { ...slowSmall, spareMs: 2_000 }), { own: quick });
const asBytes = looking(trickParsers, { own: quick });
const idly = looking(async (on) => beIdle(on, idleSmall), { own: quick });
const deafly = looking(async (on) => readNothing(on, { count: 40, streams: 10 }));
const withBodies = looking(async (on) => sendBadBodies(on, 1), { own: quick });
const fromElsewhere = looking(async (on) => askFromElsewhere(on, 20), { env: sitesEnv });
const countingWork = lookInProcess(new URL('./look-work.ts', import.meta.url));
const withTexts = looking(async (on) => inject(on, { texts: 2 }));

const forMore = looking(overreach, { env: proxiedEnv });

export const clientsControls: readonly LookControl[] = [
  {
    name: 'clients-proxy-opens-loopback',
    changes: [
      {
        file: 'src/config/exposure.ts',
        find: 'const exposed = whyExposed(exposure);',
        replace: 'const exposed = isLoopback(exposure.host) ? undefined : whyExposed(exposure);',
      },
    ],
    breaks: /^I15: behind a proxy/,
    look: forMore,
  },
  {
    name: 'clients-admin-manages-all-keys',
    changes: [
      {
        file: 'src/api/handlers/keys.ts',
        find: 'if (beyond.length === 0) return;',
        replace: 'if (beyond.length >= 0) return;',
      },
    ],
    breaks: /^keys: /,
    look: forMore,
  },
  {
    name: 'clients-ids-count-on',
    changes: [
      {
        file: 'src/core/base/id.ts',
        find: 'high += 1 + (drawn % stepEnd);',
        replace: 'high += 1;',
      },
      {
        file: 'src/core/base/id.ts',
        find: 'encodeHalf(numberOf(bytes, 5))',
        replace: 'encodeHalf(0)',
      },
    ],
    breaks: /^ids: /,
    look: forMore,
  },
  {
    name: 'clients-slow-heads-stay',
    changes: [
      {
        file: 'src/api/server/server.ts',
        find: 'connectionsCheckingInterval: limits.connectionsLookMs,',
        replace: '',
      },
    ],
    breaks: /^I11: a client that sends/,
    look: slowly,
  },
  {
    name: 'clients-no-time-limit',
    changes: [
      {
        file: 'src/api/server/server.ts',
        find: 'requestTimeout: options.isGateway === true ? 0 : limits.requestTimeoutMs,',
        replace: 'requestTimeout: 0,',
      },
      {
        file: 'src/api/server/server.ts',
        find: 'headersTimeout: limits.headersTimeoutMs,',
        replace: 'headersTimeout: 0,',
      },
    ],
    breaks: /^I11: a client that sends a body/,
    look: slowly,
  },
  {
    name: 'clients-half-closed-is-enough',
    changes: [
      {
        file: 'src/api/server/server.ts',
        find: "if (problem.code === 'request_timeout') socket.destroySoon();",
        replace: "if (problem.code === 'malformed_request') socket.end();",
      },
    ],
    breaks: /^I11: a client that sends/,
    look: slowly,
  },
  {
    name: 'clients-idle-ones-stay',
    changes: [
      {
        file: 'src/api/server/connections.ts',
        find: '  if (connection === undefined) return false;',
        replace: '  if (connection === undefined || connection.requestCount >= 0) return false;',
      },
    ],
    breaks: /^I12: during idle connections/,
    look: idly,
  },
  {
    name: 'clients-deaf-ones-fill-the-room',
    changes: [
      {
        file: 'src/engine/admission/response-backlog.ts',
        find: '      const room = answer.isPublic ? strangers : known;',
        replace: '      const room = answer.isPublic ? known : strangers;',
      },
    ],
    breaks: /^I12: during slow readers/,
    look: deafly,
  },
  {
    name: 'clients-refusal-overtakes',
    changes: [
      {
        file: 'src/api/server/connections.ts',
        find: '  if (!isTurn) return;',
        replace: '  if (!isTurn && connection.requestCount < 0) return;',
      },
    ],
    breaks: /^desync/,
    look: asBytes,
  },
  {
    name: 'clients-lenient-parser',
    changes: [
      {
        file: 'src/api/server/server.ts',
        find: '    requireHostHeader: false,',
        replace: '    insecureHTTPParser: true,\n    requireHostHeader: false,',
      },
    ],
    breaks: /^(smuggled|desync)/,
    look: asBytes,
  },
  {
    name: 'clients-no-body-limit',
    changes: [
      {
        file: 'src/api/server/mount.ts',
        find: '    bodyLimit: bodyBytesMaxOf(operation),',
        replace: '    bodyLimit: 2 ** 40 + 0 * bodyBytesMaxOf(operation),',
      },
    ],
    breaks: /^I11: (a body|a length|17 KiB|chunks)/,
    look: withBodies,
  },
  {
    name: 'clients-no-depth-limit',
    changes: [
      {
        file: 'src/core/base/json.ts',
        find: 'if (frames.length > limits.jsonDepthMax) {',
        replace: 'if (frames.length > 1e9) {',
      },
    ],
    breaks: /^I11: a depth/,
    look: withBodies,
  },
  {
    name: 'clients-no-origin-check',
    changes: [
      {
        file: 'src/api/operations/authenticate.ts',
        find: 'const fault = best.usesCookie ?',
        replace: "const fault = best.usesCookie && method === 'NONE' ?",
      },
    ],
    breaks: /^cross-origin/,
    look: fromElsewhere,
  },
  {
    name: 'clients-any-media-type',
    changes: [
      {
        file: 'src/api/operations/authenticate.ts',
        find: '  return bodyFault(head);',
        replace: "  return method === 'NONE' ? bodyFault(head) : undefined;",
      },
    ],
    breaks: /^cross-origin/,
    look: fromElsewhere,
  },
  {
    name: 'clients-key-by-id-only',
    changes: [
      {
        file: 'src/engine/access/keys.ts',
        find: 'if (key === undefined || key.appNo !== app.no) throw notFound(id);',
        replace: 'if (key === undefined || app.no < 0) throw notFound(id);',
      },
    ],
    breaks: /^I17: getKey/,
    look: looking(useForeignIds),
  },
  {
    name: 'clients-loops-go-on',
    changes: [
      {
        file: 'src/core/domain/hops.ts',
        find: 'if (hops <= limits.hopsMax) return;',
        replace: 'if (hops <= 100 * limits.hopsMax) return;',
      },
    ],
    breaks: /^loop/,
    look: looking(publishInALoop, { env: loopEnv }),
  },
  {
    name: 'clients-hops-are-forgotten',
    changes: [
      {
        file: 'src/core/domain/hops.ts',
        find: 'if (hops === 0) return trace;',
        replace: 'if (hops >= 0) return trace;',
      },
    ],
    breaks: /^loop/,
    look: looking(publishInALoop, { env: loopEnv }),
  },
  {
    name: 'clients-reads-in-one-queue',
    changes: [
      {
        file: 'src/store/sqlite/thread/read-turns.ts',
        find: 'waiting.add(appNoOf(call), {',
        replace: 'waiting.add(appNoOf(call) && 1, {',
      },
    ],
    breaks: /^fairness/,
    look: looking(async (on) => crowdReads(on, crowdSmall)),
  },
  {
    name: 'clients-app-id-is-ignored',
    changes: [
      {
        file: 'src/api/operations/operation.ts',
        find: 'if (appId !== undefined) checkAppId(head, appId);',
        replace: "if (appId === '') checkAppId(head, appId);",
      },
    ],
    breaks: /^I17: publishEvent, for another app/,
    look: looking(useForeignIds),
  },
  {
    name: 'clients-any-query-parameter',
    changes: [
      {
        file: 'src/contract/request/request.ts',
        find: 'if (!hasStrictQuery || query.length === 0) return [];',
        replace: 'if (hasStrictQuery || query.length === 0) return [];',
      },
    ],
    breaks: /^query: listDeliveries/,
    look: looking(useForeignIds),
  },
  {
    name: 'clients-one-of-two-will-do',
    changes: [
      {
        file: 'src/api/operations/authenticate.ts',
        find: 'return all.length === 1 ? all[0] : undefined;',
        replace: 'return all[0];',
      },
    ],
    breaks: /^pollution/,
    look: looking(sayTwice),
  },
  {
    name: 'clients-and-as-or',
    changes: [
      {
        file: 'src/api/operations/authenticate.ts',
        find: 'if (!appIds.every((scheme)',
        replace: 'if (appIds.length === 0 && !appIds.every((scheme)',
      },
    ],
    breaks: /^security: the key alone/,
    look: looking(askWithAppId, { env: appIdEnv }),
  },
  {
    name: 'clients-raw-url-in-log',
    changes: [
      {
        file: 'src/api/request/request-log.ts',
        find: '    method: request.method,\n    status,',
        replace: '    method: request.method,\n    url: request.url,\n    status,',
      },
      {
        file: 'src/cli/serve/log.ts',
        find: 'const safe = redact(line);',
        replace: 'const safe = line;',
      },
    ],
    breaks: /^I16: the log/,
    look: looking(sendSecrets),
  },
  {
    name: 'clients-header-value-unchecked',
    changes: [
      {
        file: 'src/core/domain/callback-headers.ts',
        find: '  if (printable.test(value)) return undefined;',
        replace: '  if (printable.test(value) || value.length > 0) return undefined;',
      },
    ],
    breaks: /^(I12: it failed|injection)/,
    look: withTexts,
  },
  {
    name: 'clients-terminal-obeys',
    changes: [
      {
        file: 'src/cli/terminal/text.ts',
        find: '  return text.replaceAll(',
        replace: '  if (text.length > 0) return text;\n  return text.replaceAll(',
      },
    ],
    breaks: /^terminal/,
    look: withTexts,
  },
  {
    name: 'clients-unknown-key-is-quick',
    changes: [
      {
        file: 'src/engine/access/identify.ts',
        find: '      return whenReady(keys.find(id), (key = absentKey) => {',
        replace:
          '      return whenReady(keys.find(id), (key = absentKey) => {\n' +
          '        if (key === absentKey) return undefined;',
      },
    ],
    breaks: /^timing: a key \(unknown\)/,
    look: lookInProcess(new URL('./look-timing.ts', import.meta.url)),
  },
  {
    name: 'clients-items-cost-the-whole-list',
    changes: [
      {
        file: 'src/contract/schema/member-rules.ts',
        find: '    if (!apply(node, value[n], quiet)) return n;',
        replace:
          '    budget.spend(value.length);\n    if (!apply(node, value[n], quiet)) return n;',
      },
    ],
    breaks: /^work: /,
    look: countingWork,
  },
  {
    name: 'clients-too-large-is-searched',
    changes: [
      {
        file: 'src/contract/schema/evaluation.ts',
        find: '!at.isThorough || n < sizes',
        replace: '!at.isThorough || n < -sizes',
      },
    ],
    breaks: /^a value that is too large is searched: /,
    look: countingWork,
  },
];
