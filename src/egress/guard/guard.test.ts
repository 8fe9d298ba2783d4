import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import {
  corpusMissing,
  decoyName,
  hiddenAddress,
  laundered,
  readCorpus,
  type CorpusRow,
} from '../../../test/egress/corpus.ts';
import { fc } from '../../../test/fast-check.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Connector } from '../http/connect.ts';
import { dial } from '../http/connect.ts';
import type { Guard, RefusalCode, VetResult } from './guard.ts';
import { showUrl } from '../../core/secrets/redact.ts';
import { createGuard } from './guard.ts';
import { parseAllowTargets } from './allow-list.ts';
import type { Resolution, Resolver } from './resolve.ts';

const publicAddress = '93.184.215.14';

/** Answers from a table; `asked` records the queries. */
function fakeResolver(table: Record<string, readonly string[] | Resolution>): Resolver & {
  asked: string[];
} {
  const asked: string[] = [];
  return {
    asked,
    async resolve(name) {
      asked.push(name);
      const entry = table[name];
      if (entry === undefined) return { kind: 'missing' };
      return 'kind' in entry ? entry : { kind: 'addresses', addresses: entry };
    },
  };
}

function guardOf(
  options: { allow?: string; requireHttps?: boolean; resolver?: Resolver } = {},
): Guard {
  const { allow = 'none', requireHttps = false, resolver = fakeResolver({}) } = options;
  const read = parseAllowTargets(allow);
  assert(read.kind === 'allow');
  return createGuard({ policy: { allow: read.allow, requireHttps }, resolver });
}

function reasonOf(guard: Guard, raw: string): RefusalCode | 'accepted' {
  const read = guard.read(raw);
  return read.kind === 'refused' ? read.reason : 'accepted';
}

function hrefOf(guard: Guard, raw: string): string {
  const read = guard.read(raw);
  assert(read.kind === 'url', read.kind === 'refused' ? read.message : raw);
  return read.url.href;
}

function messageOf(guard: Guard, raw: string): string {
  const read = guard.read(raw);
  assert(read.kind === 'refused', raw);
  return read.message;
}

async function vet(guard: Guard, raw: string): Promise<VetResult> {
  const read = guard.read(raw);
  return read.kind === 'url' ? guard.vet(read.url) : read;
}

describe('read', () => {
  const strict = guardOf();

  it('returns the canonical URL', () => {
    const rows = [
      ['HTTPS://Example.COM', 'https://example.com/'],
      ['https://example.com:443/a/../b?x=1', 'https://example.com/b?x=1'],
      ['http://example.com:8080/hook', 'http://example.com:8080/hook'],
      ['https://example.com./hook', 'https://example.com/hook'],
      ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
      ['https://example.com/@me?to=a@b', 'https://example.com/@me?to=a@b'],
      ['https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
      ['http://010.0.0.1/', 'http://8.0.0.1/'], // Octal: what is dialled is what is shown.
    ] as const;
    for (const [raw, href] of rows) assert.equal(hrefOf(strict, raw), href);
  });

  const refusals: [RefusalCode, ...string[]][] = [
    ['too_long', `https://example.com/${'a'.repeat(limits.urlBytesMax)}`],
    ['too_long', `https://example.com/${'ü'.repeat(1_000)}`], // 2,020 bytes, escaped 6,020.
    ['characters', 'https://example.com/a b', ' https://example.com/', 'https://example.com/\n'],
    [
      'characters',
      'ht\ttps://example.com/',
      'https://example.com\\@a.com/',
      'https://a.com/\u0085',
    ],
    ['characters', 'https://a.com/\u0000', 'https://a.com/\ud800', 'https://a.com/\u2028'],
    ['characters', 'http://%31%32%37.0.0.1/', 'http://example.com%2e/', 'http://[fe80::1%25eth0]/'],
    ['scheme', 'ftp://example.com/', 'file:///etc/passwd', '//example.com/', 'example.com', ''],
    ['scheme', 'javascript:alert(1)', 'gopher://example.com/', 'blob:https://example.com/x'],
    [
      'malformed',
      'http:',
      'https://',
      'https:example.com',
      'https:/example.com/',
      'http:////a.com/',
    ],
    ['malformed', 'https://exa<mple.com/', 'https://1.2.3.4.5/', 'https://example.com:99999/'],
    ['userinfo', 'https://user@example.com/', 'https://u:p@example.com/', 'https://@example.com/'],
    ['fragment', 'https://example.com/#a', 'https://example.com/#'],
    ['port', 'https://example.com:0/', 'https://example.com:22/', 'http://example.com:6379/'],
    ['port', 'http://example.com:81/', 'http://93.184.215.14:5432/'],
    ['name', 'http://intranet/', 'http://db.internal/', 'http://printer.local/', 'http://x.onion/'],
    ['name', 'http://a.svc/', 'http://a.ns.svc.cluster.local/', 'http://router.lan./'],
    [
      'name',
      'http://a.home.arpa/',
      'http://localhost/',
      'http://a.localhost/',
      'http://LOCALHOST./',
    ],
    ['name', 'http://a_b.com/', 'http://-a.com/', 'http://a-.com/', 'http://a..b.com/'],
    ['name', 'http://example.com../', 'http://./', `http://${'a'.repeat(64)}.com/`],
    ['name', `http://${'a.'.repeat(130)}com/`],
    ['address', 'http://127.0.0.1/', 'http://[::1]/', 'http://10.0.0.1:8080/', 'http://0/'],
  ];
  for (const [reason, ...urls] of refusals) {
    const shown = urls.map((url) => JSON.stringify(url.slice(0, 40))).join(' ');
    it(`refuses as ${reason}: ${shown}`, () => {
      for (const url of urls) assert.equal(reasonOf(strict, url), reason, url);
    });
  }

  it('refuses http where https is required', () => {
    const guard = guardOf({ requireHttps: true });
    assert.equal(reasonOf(guard, 'http://example.com/'), 'scheme');
    assert.equal(reasonOf(guard, 'https://example.com/'), 'accepted');
  });

  it('states action, value, actual and expected', () => {
    assert.equal(
      messageOf(strict, 'ftp://x'),
      'Cannot accept callback URL "ftp://x": scheme is "ftp", expected http or https',
    );
    assert.equal(
      messageOf(strict, 'http://2130706433/'),
      'Cannot accept callback URL "http://2130706433/": ' +
        'host is 127.0.0.1, of the class loopback, expected a public address',
    );
    assert.equal(
      messageOf(strict, 'http://intranet/'),
      'Cannot accept callback URL "http://intranet/": ' +
        'host is "intranet", expected a public host name',
    );
    const shortened = messageOf(strict, `http://${'a'.repeat(130)}.com/`);
    assert.match(shortened, /host is "a{120}", expected a public host name$/);
  });

  it('allows a URL and a name up to their length, and not one character more', () => {
    const path = 'a'.repeat(limits.urlBytesMax - 'https://a.com/'.length);
    assert.equal(reasonOf(strict, `https://a.com/${path}`), 'accepted');
    assert.equal(reasonOf(strict, `https://a.com/${path}a`), 'too_long');
    const name = `${`${'a'.repeat(63)}.`.repeat(3)}${'b'.repeat(61)}`; // 253 characters.
    assert.equal(reasonOf(strict, `https://${name}/`), 'accepted');
    assert.equal(reasonOf(strict, `https://${name}b/`), 'name');
  });

  it('allows addresses on the allow list, with their ports', () => {
    const guard = guardOf({ allow: 'loopback,10.0.0.0/8' });
    const fine = ['http://127.0.0.1:81/', 'http://[::1]:3000/', 'http://localhost:5432/'];
    fine.push('http://10.1.2.3:6379/', 'http://[::ffff:10.1.2.3]/', 'http://web:81/');
    for (const url of fine) assert.equal(reasonOf(guard, url), 'accepted', url);
    assert.equal(reasonOf(guard, 'http://127.0.0.1:25/'), 'port');
    assert.equal(reasonOf(guard, 'http://93.184.215.14:81/'), 'port');
    assert.equal(reasonOf(guard, 'http://192.168.0.1/'), 'address');
    assert.equal(reasonOf(guardOf({ allow: '10.0.0.0/8' }), 'http://localhost/'), 'name');
  });

  it('is idempotent: reading a canonical URL changes nothing', () => {
    const guard = guardOf({ allow: 'loopback' });
    const odd = fc.constantFrom(
      'HTTP://EXAMPLE.com.',
      'http://0x7f.1',
      'http://bücher.de',
      'https://①.1',
    );
    const url = fc.oneof(
      fc.webUrl({ withQueryParameters: true }),
      fc.tuple(odd, fc.webPath()).map(([origin, path]) => origin + path),
      fc.tuple(fc.domain(), fc.string({ unit: 'binary' })).map(([a, b]) => `https://${a}/${b}`),
      fc.string({ unit: 'grapheme' }).map((host) => `http://${host}/`),
    );
    let accepted = 0;
    fc.assert(
      fc.property(url, (raw) => {
        const first = guard.read(raw);
        if (first.kind === 'refused') return;
        accepted += 1;
        assert.deepEqual(guard.read(first.url.href), first);
      }),
      { numRuns: 10_000 },
    );
    assert(accepted > 3_000, `only ${accepted} URLs were accepted`);
  });
});

describe('showUrl', () => {
  it('shows no userinfo, query, control characters or overlong text', () => {
    const rows = [
      ['http://user:CANARY@a.com/x', 'http://***@a.com/x'],
      ['http://user:CAN/ARY@a.com/x', 'http://***@a.com/x'],
      ['http:\\\\u:CANARY@a.com', 'http:\\\\***@a.com'],
      ['ht\ttp://u:CANARY@a.com', '***@a.com'],
      ['https://a.com/x?token=CANARY', 'https://a.com/x?***'],
      ['http://u:CAN?ARY@a.com/?CANARY', 'http://***'],
      ['https://a.com/?t=CANARY&to=a@b.com&s=CANARY', 'https://***'],
      ['https://a.com/x#CANARY', 'https://a.com/x#***'],
      ['https://a.com/#x@CANARY', 'https://***'],
      ['http://a.com/\n\u202e', 'http://a.com/\ufffd\ufffd'],
    ] as const;
    for (const [raw, shown] of rows) assert.equal(showUrl(raw), shown);
    assert(showUrl(`http://a.com/${'😀'.repeat(500)}`).length < 130);
  });

  it('hides secrets in every message of the guard', () => {
    const bad = ['http://u:CANARY@127.0.0.1/', 'http://127.0.0.1/?CANARY', 'x://u:CANARY@h'];
    bad.push('http://127.0.0.1/?to=a@b&CANARY', 'https://a.com/#CANARY', 'http://u:p?CANARY@h/');
    for (const url of bad) assert.doesNotMatch(messageOf(guardOf(), url), /CANARY/);
  });
});

describe('vet', () => {
  it('resolves a name and returns its addresses', async () => {
    const resolver = fakeResolver({ 'example.com': [publicAddress, '2606:4700::1111'] });
    const result = await vet(guardOf({ resolver }), 'https://example.com/');
    assert(result.kind === 'vetted');
    assert.deepEqual(result.addresses, [publicAddress, '2606:4700::1111']);
  });

  it('refuses all addresses when one is forbidden, without naming it', async () => {
    const resolver = fakeResolver({ 'example.com': [publicAddress, '10.11.12.13'] });
    const result = await vet(guardOf({ resolver }), 'https://example.com/');
    assert(result.kind === 'refused');
    assert.equal(result.reason, 'address');
    assert.match(result.message, /host is a name that resolves to a forbidden address/);
    assert.doesNotMatch(result.message, /10\.11|private/);
  });

  it('refuses too many addresses, or none that can be parsed', async () => {
    const many = Array.from({ length: limits.dnsAddressesMax + 1 }, (_, i) => `8.8.8.${i}`);
    const table = { 'many.com': many, 'max.com': many.slice(1), 'odd.com': ['example.com'] };
    const guard = guardOf({ resolver: fakeResolver(table) });
    assert.equal((await vet(guard, 'https://many.com/')).kind, 'refused');
    assert.equal((await vet(guard, 'https://max.com/')).kind, 'vetted');
    assert.equal((await vet(guard, 'https://odd.com/')).kind, 'refused');
  });

  it('distinguishes a missing name from a failed lookup', async () => {
    const resolver = fakeResolver({
      'slow.com': { kind: 'failed', reason: 'timeout' },
      'none.com': [],
    });
    const guard = guardOf({ resolver });
    const rows = [
      ['https://slow.com/', 'failed'],
      ['https://none.com/', 'missing'],
      ['https://gone.com/', 'missing'],
    ] as const;
    for (const [url, reason] of rows) {
      const result = await vet(guard, url);
      assert(result.kind === 'unresolved');
      assert.equal(result.reason, reason);
    }
  });

  it('refuses a name that turns private after it was accepted (rebinding)', async () => {
    const answers = [[publicAddress], ['127.0.0.1'], ['::ffff:169.254.169.254'], [publicAddress]];
    const resolver: Resolver = {
      resolve: async () => ({ kind: 'addresses', addresses: answers.shift() ?? [] }),
    };
    const guard = guardOf({ resolver });
    const kinds = [];
    for (let i = 0; i < 4; i += 1) kinds.push((await vet(guard, 'https://rebind.com/')).kind);
    assert.deepEqual(kinds, ['vetted', 'refused', 'refused', 'vetted']);
  });

  it('resolves localhost to the listed loopback addresses without a lookup', async () => {
    const resolver = fakeResolver({});
    const rows = [
      ['loopback', ['127.0.0.1', '::1']],
      ['127.0.0.0/8', ['127.0.0.1']],
      ['::1', ['::1']],
    ] as const;
    for (const [allow, addresses] of rows) {
      const result = await vet(guardOf({ allow, resolver }), 'http://app.localhost:3000/');
      assert(result.kind === 'vetted');
      assert.deepEqual(result.addresses, addresses);
    }
    assert.equal((await vet(guardOf({ resolver }), 'http://localhost/')).kind, 'refused');
    assert.deepEqual(resolver.asked, []);
  });

  it('allows a local name only if every address is listed', async () => {
    const table = {
      web: ['10.0.0.5'],
      half: ['10.0.0.5', publicAddress],
      outside: [publicAddress],
      other: ['192.168.0.1'],
      'db.internal': ['10.0.0.6'],
    };
    const resolver = fakeResolver(table);
    const guard = guardOf({ allow: '10.0.0.0/8', resolver });
    assert.equal((await vet(guard, 'http://web:81/')).kind, 'vetted');
    assert.equal((await vet(guard, 'http://db.internal/')).kind, 'vetted');
    for (const name of ['half', 'outside', 'other']) {
      const result = await vet(guard, `http://${name}/`);
      assert(result.kind === 'refused');
      assert.equal(result.reason, 'name');
    }
    const asked = resolver.asked.length;
    assert.equal((await vet(guardOf({ resolver }), 'http://web/')).kind, 'refused');
    assert.equal(resolver.asked.length, asked, 'without an allow list nothing is looked up');
  });

  it('restricts a name to the public ports unless all its addresses are listed', async () => {
    const table = { 'in.corp.com': ['10.0.0.5'], 'mix.corp.com': ['10.0.0.5', publicAddress] };
    const guard = guardOf({ allow: '10.0.0.0/8', resolver: fakeResolver(table) });
    assert.equal((await vet(guard, 'http://in.corp.com:6379/')).kind, 'vetted');
    const mixed = await vet(guard, 'http://mix.corp.com:6379/');
    assert(mixed.kind === 'refused');
    assert.equal(mixed.reason, 'port');
    assert.equal((await vet(guard, 'http://mix.corp.com:8080/')).kind, 'vetted');
  });

  it('dials a mapped address as the IPv4 address it was checked as', async () => {
    const result = await vet(guardOf({ allow: 'loopback' }), 'http://[::ffff:127.0.0.1]:3000/');
    assert(result.kind === 'vetted');
    assert.deepEqual(result.addresses, ['127.0.0.1']);
  });

  it('checks again a URL that an older policy accepted', async () => {
    const read = guardOf({ allow: 'loopback' }).read('http://127.0.0.1:3000/');
    assert(read.kind === 'url');
    assert.equal((await guardOf().vet(read.url)).kind, 'refused');
  });
});

describe('checkAddress', () => {
  it('forbids text that it cannot parse', () => {
    const guard = guardOf({ allow: 'loopback' });
    assert.deepEqual(guard.checkAddress(undefined), { kind: 'forbidden', class: 'unreadable' });
    assert.deepEqual(guard.checkAddress('example.com'), { kind: 'forbidden', class: 'unreadable' });
    assert.deepEqual(guard.checkAddress('127.0.0.1'), { kind: 'listed' });
    assert.deepEqual(guard.checkAddress(publicAddress), { kind: 'public' });
  });
});

// Each advisory with the spellings that passed other guards.
describe('known bypasses', () => {
  const ipAddress = 'CVE-2026-54272, -69192, -69198 ip-address';
  const webhookGuards =
    'GHSA-mvm9-4fhw-xqf3, GHSA-qhf2-x32h-c288, GHSA-794r-5rp2-fpg8, GHSA-j8q9-r9pq-2hh9';
  const spellings: [string, ...string[]][] = [
    ['CVE-2023-42282, CVE-2024-29415 ip', '127.1', '01200034567', '012.1.2.3', '0x7f.1'],
    ['CVE-2024-29415 ip, IPv6', '[000:0:0000::01]', '[::fFFf:127.0.0.1]'],
    ['CVE-2025-59436, -59437 ip', '0', '017700000001', '0.0.0.0', '[::]'],
    ['CVE-2020-28360 private-ip', '0.1.2.3', '100.64.0.1', '192.0.0.1', '198.18.0.1', '240.0.0.1'],
    [
      'private-ip #32, #31 GHSA-9h3q',
      '[::ffff:10.0.0.1]',
      '[::ffff:a00:1]',
      '224.0.0.1',
      '[ff02::1]',
    ],
    ['CVE-2025-8267 ssrfcheck', '224.0.0.1', '239.255.255.255', '233.252.0.1'],
    [
      'CVE-2026-43929 ssrfcheck',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:ffff:7f00:1]',
    ],
    ['CVE-2025-8020 private-ip', '224.0.0.251', '239.0.0.1'],
    ['advisory-database #7698 ip', '10.0.0.1:8080', '192.168.1.1:cafe'],
    [
      'CVE-2021-23718 ssrf-agent',
      '10.0.0.1',
      '172.31.255.255',
      '192.168.255.255',
      '169.254.169.254',
    ],
    [
      `${ipAddress}, mapped and NAT64`,
      '[64:ff9b::7f00:1]',
      '[::ffff:0:7f00:1]',
      '[64:ff9b::a9fe:a9fe]',
    ],
    [`${ipAddress}, leading zeros`, '0177.0.0.1', '0300.0250.0.1', '00000012.0.0.1'],
    [`${ipAddress}, subnet edges`, '127.255.255.255', '10.255.255.255', '172.16.0.0', '[fdff::1]'],
    [`${webhookGuards}, NAT64`, '[64:ff9b::10.0.0.1]', '[64:ff9b:1::a00:1]'],
    [`${webhookGuards}, 6to4`, '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]'],
    [`${webhookGuards}, Teredo`, '[2001:0:4136:e378:8000:63bf:80ff:fffe]', '[2001::1]'],
    [`${webhookGuards}, ISATAP`, '[2606:4700::5efe:7f00:1]', '[fe80::200:5efe:a00:1]'],
    [`${webhookGuards}, compatible`, '[::127.0.0.1]', '[::a00:1]'],
    ['local-deep-research #5594 RFC 6052', '[64:ff9b:1:a00:0:100:808:808]'],
    ['WHATWG repairs', '１２７.０.０.１', '①②⑦.0.0.1', '127。0。0。1', '127.0.0.1.', '2130706433'],
  ];
  for (const [family, ...hosts] of spellings) {
    it(`refuses ${family}: ${hosts.join(' ')}`, () => {
      for (const host of hosts) {
        const reason = reasonOf(guardOf(), `http://${host}/`);
        assert(reason === 'address' || reason === 'malformed', `${host}: ${reason}`);
      }
    });
  }

  it('refuses CVE-2025-2691 nossrf, CVE-2025-8020: names of forbidden addresses', async () => {
    for (const address of ['127.0.0.1', '224.0.0.1', '::1', '::ffff:7f00:1', '64:ff9b::a00:1']) {
      const resolver = fakeResolver({ 'nip.example.com': [address] });
      const result = await vet(guardOf({ resolver }), 'https://nip.example.com/');
      assert.equal(result.kind, 'refused', address);
    }
  });

  it('reads a redirect target of CVE-2023-28155 like any other URL', () => {
    // The URL of a redirect that is followed is checked like the first URL.
    assert.equal(reasonOf(guardOf(), 'https://127.0.0.1/'), 'address');
    assert.equal(reasonOf(guardOf(), 'http://127.0.0.1/'), 'address');
  });
});

/**
 * Resolves each name of the corpus to its hidden target, except for the decoy that is really
 * public.
 */
function corpusResolver(row: CorpusRow): Resolver {
  const hidden = hiddenAddress(row);
  return {
    resolve: async (name) => ({
      kind: 'addresses',
      addresses: [name === decoyName ? publicAddress : hidden],
    }),
  };
}

/** Reads, vets and dials; the connector only records where it was sent. */
async function deliver(guard: Guard, url: string, dials: string[]): Promise<string> {
  const connector: Connector = {
    async connect({ address }): Promise<Socket> {
      dials.push(address);
      throw new Error('Nothing is dialled in this test.');
    },
  };
  const result = await vet(guard, url);
  if (result.kind === 'vetted') await dial(result, { guard, connector });
  return result.kind === 'refused' ? result.reason : result.kind;
}

describe('corpus', { skip: corpusMissing ?? false }, () => {
  const rows = readCorpus();

  for (const [title, launder] of [
    ['as written', (url: string) => url],
    ['after the URL parser has repaired them', laundered],
  ] as const) {
    it(`dials nothing forbidden: ${rows.length} URLs ${title}`, async (t) => {
      const counts: Record<string, number> = {};
      const dials: string[] = [];
      for (const row of rows) {
        const guard = guardOf({ resolver: corpusResolver(row) });
        const url = launder(row.url);
        const outcome = await deliver(guard, url, dials);
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        if (outcome === 'vetted') assert.equal(URL.parse(url)?.hostname, 'example.com', url);
      }
      t.diagnostic(`${title}: ${JSON.stringify(counts)}, ${dials.length} dials`);
      assert.deepEqual(
        dials.filter((address) => address !== publicAddress),
        [],
      );
      assert.equal(dials.length, counts['vetted'] ?? 0);
      assert(rows.length > 1_000);
    });
  }

  it('dials loopback and nothing else where only loopback is allowed', async (t) => {
    const counts: Record<string, number> = {};
    const dials: string[] = [];
    for (const row of rows) {
      const guard = guardOf({ allow: 'loopback', resolver: corpusResolver(row) });
      const outcome = await deliver(guard, laundered(row.url), dials);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    t.diagnostic(`loopback: ${JSON.stringify(counts)}, ${dials.length} dials`);
    assert.deepEqual(
      dials.filter((address) => !['127.0.0.1', '::1', publicAddress].includes(address)),
      [],
    );
    assert(dials.includes('127.0.0.1'), 'the corpus must hold spellings of loopback');
  });
});
