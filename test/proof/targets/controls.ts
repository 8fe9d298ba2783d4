// Negative controls of where callbacks go: what an engineer might get wrong, or leave out, and which step of
// the part has to see it. Where one check stands behind another, both are taken away.
import type { SourceChange } from '../controls/change-source.ts';
import { lookInProcess, type LookControl } from '../controls/run-controls.ts';
import { proveNamespace } from './namespace.ts';
import type { Step } from './part.ts';

function looking(step: Step): LookControl['look'] {
  return lookInProcess(new URL('./look-targets.ts', import.meta.url), [step]);
}

const briefly = { step: 800, names: 1, seed: 1, phases: 'closed' } as const;

/** The last look before a dial. */
const dialUnseen: SourceChange = {
  file: 'src/egress/http/connect.ts',
  find: "  if (guard.checkAddress(address).kind === 'forbidden') return blocked(url);",
  replace: '',
};

/** Where a connection ended is of no interest. */
const arriveAnywhere: SourceChange = {
  file: 'src/egress/http/connect.ts',
  find: "  if (!arrived || guard.checkAddress(remoteAddress).kind === 'forbidden') {",
  replace: '  if (!arrived && guard === undefined) {',
};

/** Addresses in URLs are no names, so nobody looks at them. */
const trustLiterals: SourceChange = {
  file: 'src/egress/guard/guard.ts',
  find: "  if (host.kind === 'address') return findAddressFault(url, [checkIpText(host.address, policy)]);",
  replace: "  if (host.kind === 'address') return undefined;",
};

const checkAnswer =
  '  const verdicts = answer.addresses.map((address) => checkIpText(address, policy));';

export const targetsControls: readonly LookControl[] = [
  {
    name: 'guard-at-lookup-only',
    changes: [trustLiterals],
    breaks: /^I15: body: answered 201/,
    look: looking('subscribe'),
  },
  {
    name: 'guard-at-lookup-only, at the attempt',
    changes: [trustLiterals, dialUnseen],
    breaks: /^I15: dialled/,
    look: looking('attempt'),
  },
  {
    name: 'guard-at-subscribe-only',
    changes: [
      {
        file: 'src/egress/guard/guard.ts',
        find: checkAnswer,
        // Only an attempt can be given up.
        replace:
          '  const verdicts = answer.addresses.map((address): Verdict =>\n' +
          "    signal === undefined ? checkIpText(address, policy) : { kind: 'public' });",
      },
      dialUnseen,
    ],
    breaks: /^I15: dialled .*it is forbidden/,
    look: looking('rebinding'),
  },
  {
    name: 'policy-of-yesterday',
    changes: [
      {
        file: 'src/egress/http/send.ts',
        find: "    if (found.kind === 'refused') return Promise.resolve(failure('blocked', found.message));",
        replace: '',
      },
      {
        file: 'src/egress/http/send.ts',
        find: '  const read = remember((url) => guard.read(url));',
        replace:
          '  const asBefore = (href: string): ReadResult => {\n' +
          '    const { protocol, hostname, port } = new URL(href);\n' +
          "    const address = hostname.replace(/^\\[(.*)\\]$/, '$1');\n" +
          "    const host = { kind: 'address', address } as const;\n" +
          "    const secure = protocol === 'https:' ? 'https:' : 'http:';\n" +
          "    return { kind: 'url', url: { href, protocol: secure, host, port: Number(port) } };\n" +
          '  };\n' +
          '  const read = remember(asBefore);',
      },
      {
        file: 'src/egress/http/connect.ts',
        find: "  if (read.kind === 'refused') return read;",
        replace:
          "  if (read.kind === 'refused') {\n" +
          "    const address = new URL(href).hostname.replace(/^\\[(.*)\\]$/, '$1');\n" +
          "    const host = { kind: 'address', address } as const;\n" +
          "    const url = { href, protocol: 'http:', host, port: 80 } as const;\n" +
          "    return dial({ kind: 'vetted', url, addresses: [address] }, options);\n" +
          '  }',
      },
      dialUnseen,
    ],
    breaks: /^I15: dialled/,
    look: looking('taken back'),
  },
  {
    name: 'where-it-ended-is-not-checked',
    changes: [arriveAnywhere],
    breaks: /^I15: wrote \d+ bytes/,
    look: looking('rebinding'),
  },
  {
    name: 'filter-instead-of-refuse',
    changes: [
      {
        file: 'src/egress/guard/guard.ts',
        find: checkAnswer,
        replace:
          '  const fine = answer.addresses.filter((one) =>\n' +
          "    checkIpText(one, policy).kind !== 'forbidden');\n" +
          '  if (fine.length > 0) return vetted(url, fine);\n' +
          checkAnswer,
      },
    ],
    breaks: /^I15: dialled .*the same answer led to/,
    look: looking('rebinding'),
  },
  {
    name: 'judge-the-first-address',
    changes: [
      {
        file: 'src/egress/guard/guard.ts',
        find: checkAnswer,
        replace: checkAnswer.replace('answer.addresses.map', 'answer.addresses.slice(0, 1).map'),
      },
      dialUnseen,
    ],
    breaks: /^I15: dialled/,
    look: looking('rebinding'),
  },
  {
    name: 'look-up-twice',
    changes: [
      {
        file: 'src/egress/guard/guard.ts',
        find: '    ? vetted(url, answer.addresses)',
        replace:
          '    ? await resolver.resolve(host.name, signal).then((again) =>\n' +
          "        vetted(url, again.kind === 'addresses' ? again.addresses : answer.addresses))",
      },
      dialUnseen,
    ],
    breaks: /^I15: dialled .*it is forbidden/,
    look: looking('rebinding'),
  },
  {
    name: 'mapped-judged-as-text',
    changes: [
      {
        file: 'src/egress/guard/guard.ts',
        find: "  const address = parseAddress(text ?? '');",
        replace:
          "  const inner = /^::ffff:(.*)$/i.exec(text ?? '')?.[1];\n" +
          '  const isInside = /^(127|10|192\\.168|172\\.16|169\\.254)\\./;\n' +
          "  if (inner !== undefined && !isInside.test(inner)) return { kind: 'public' };\n" +
          "  const address = parseAddress(text ?? '');",
      },
    ],
    breaks: /^I15: dialled/,
    look: looking('attempt'),
  },
  {
    name: 'tunnels-are-public',
    changes: [
      {
        file: 'src/egress/guard/address.ts',
        find: "  ['transition', '192.88.99.0/24', '2002::/16', '2001::/32'], // 6to4 relays, 6to4, Teredo.",
        replace: '',
      },
      {
        file: 'src/egress/guard/address.ts',
        find: "  if (address.family === 6 && isIsatap(address.value)) return 'transition';",
        replace: '',
      },
    ],
    breaks: /^I15: dialled .*it is forbidden/,
    look: looking('rebinding'),
  },
  {
    name: 'a-wide-range-opens-metadata',
    changes: [
      {
        file: 'src/egress/guard/address.ts',
        find: "  const naming = found === 'metadata' ? covering.filter(isSingle) : covering;",
        replace: '  const naming = isSingle === undefined ? covering.filter(isSingle) : covering;',
      },
    ],
    breaks: /^I15: wide: answered 201/,
    look: looking('wide ranges'),
  },
  {
    name: 'patch-unguarded',
    changes: [
      {
        file: 'src/engine/subscribe/subscriptions.ts',
        find: '    const verdict = await acceptUrl(url, guard);',
        replace:
          '    const judged = await acceptUrl(url, guard);\n' +
          "    const verdict = judged.kind === 'refused' ? { kind: 'accepted', url } as const : judged;",
      },
    ],
    breaks: /^I15: patch.*: answered 200/,
    look: looking('subscribe'),
  },
  {
    name: 'follow-redirects',
    changes: [
      {
        file: 'src/engine/deliver/attempt.ts',
        find: '    const result = await sender.send(request, { signal: it.signal, onStart });\n',
        replace:
          '    let result = await sender.send(request, { signal: it.signal, onStart });\n' +
          "  if (result.kind === 'answered' && result.status >= 300 && result.status < 400) {\n" +
          "    const to = result.headers.find(([name]) => name === 'location')?.[1];\n" +
          '    const url = to === undefined ? undefined : URL.parse(to, request.url)?.href;\n' +
          '    if (url !== undefined) {\n' +
          '      result = await sender.send({ ...request, url }, { signal: it.signal, onStart });\n' +
          '    }\n' +
          '  }\n',
      },
    ],
    breaks: /^I15: followed/,
    look: looking('redirects'),
  },
  {
    name: 'follow-alternative-services',
    changes: [
      {
        file: 'src/engine/deliver/attempt.ts',
        find: '    const result = await sender.send(request, { signal: it.signal, onStart });\n',
        replace:
          '    let result = await sender.send(request, { signal: it.signal, onStart });\n' +
          "  const heard = result.kind === 'answered' ? result.headers : [];\n" +
          "  const other = heard.find(([name]) => name === 'alt-svc')?.[1];\n" +
          '  const at = other && /http\\/1\\.1="([^"]+)"/.exec(other)?.[1];\n' +
          '  if (at) await sender.send({ ...request, url: `http://${at}/` }, { signal: it.signal });\n',
      },
    ],
    breaks: /^I15: followed/,
    look: looking('redirects'),
  },
  {
    name: 'guard-off, in a network of its own',
    changes: [
      {
        file: 'src/egress/guard/guard.ts',
        find: "    ? { kind: 'forbidden', class: 'unreadable' }\n    : checkAddress(address, policy);",
        replace: "    ? checkAddress({ family: 4, value: 1n }, policy)\n    : { kind: 'public' };",
      },
    ],
    breaks: /^I15: \d+ connections came to .*it is forbidden/,
    look: async (changes) => proveNamespace({ ...briefly, changes }),
  },
  {
    name: 'look-up-by-the-system',
    changes: [
      {
        file: 'src/egress/guard/resolve.ts',
        find: 'await Promise.all([ask(dns.resolve4(name)), ask(dns.resolve6(name))]);',
        replace:
          "await import('node:dns/promises').then(async ({ lookup }) => {\n" +
          '        const all = lookup(name, { all: true });\n' +
          '        return [await ask(all.then((found) => found.map(({ address }) => address)))];\n' +
          '      });',
      },
    ],
    breaks: /^I15: looked up/,
    look: async (changes) => proveNamespace({ ...briefly, only: ['public', 'nxdomain'], changes }),
  },
];
