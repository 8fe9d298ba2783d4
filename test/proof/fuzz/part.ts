// The part of the proof that fuzzes every operation, with valid and invalid requests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding, Part, PartOptions } from '../finding.ts';
import { freshStoreDatabase } from '../../postgres/store-database.ts';
import { readDocument } from './document.ts';
import { fuzzForeign } from './foreign.ts';
import { heapMiB } from './heap.ts';
import { fuzzHttp } from './http/part.ts';
import { askForHugeReports, fullHuge, smallHuge, type HugeSizes } from './huge-documents.ts';
import { sendHugeValues } from './huge-values.ts';
import { runLife, type LifeResult } from './run-service.ts';
import { exchanged } from './stage.ts';

export const fuzz: Part = {
  name: 'fuzz',
  about:
    'Requests are drawn by seed from openapi.yaml alone and sent over real sockets: valid ones, ones that ' +
    'break one rule of one schema, and wild ones, by callers with every kind of key, using ids, cursors and ' +
    'keys from earlier responses. No response may be a 5xx, undeclared or different from its schema ' +
    '(checked by an independent validator), contain a secret, or name data of another app. Valid requests ' +
    'are not refused as malformed, and broken ones are not accepted. Afterwards all counts must agree, also ' +
    'after a restart. In addition, requests and responses that are nearly valid are read by Ringback’s own ' +
    'HTTP parsers. Whatever these accept, Node’s parser must read in the same way. Finally, the reports of ' +
    'documents whose examples would take hours to find are requested without a key: each report says what was ' +
    'not found within the work limit, and the service answers other requests meanwhile. The largest bodies are ' +
    'sent to the most expensive schemas, and each is refused for the steps of its check.',
  prove: async ({ scale, seed, say }) => {
    const sizes = scale === 'small' ? small : full;
    const own = await fuzzOwn(sizes, { seed, say });
    const foreign = await fuzzOthers(sizes, { seed, say });
    const huge = await askForHugeReports(sizes.huge);
    const values = await sendHugeValues();
    return [...own, foreign, huge, values, fuzzHttp({ messages: sizes.messages, seed })];
  },
};

type StoreKind = 'file' | 'memory' | 'postgres' | 'exchanges';

interface Sizes {
  lives: readonly (readonly [store: StoreKind, requests: number])[];
  /** Services to fuzz at a time: each often waits for the disk and for connections to end. */
  atOnce: number;
  foreign: { requests: number; documentsMax: number };
  huge: HugeSizes;
  /** Messages for Ringback's HTTP parsers. */
  messages: number;
  /** Requires that every operation has succeeded at least once. */
  isWhole: boolean;
}

const full: Sizes = {
  lives: [
    ...Array.from({ length: 6 }, () => ['memory', 8_000] as const),
    ...Array.from({ length: 2 }, () => ['file', 7_000] as const),
    ...Array.from({ length: 2 }, () => ['postgres', 4_000] as const),
    ['exchanges', 1_000],
  ],
  atOnce: 2,
  foreign: { requests: 60, documentsMax: 1_000 },
  huge: fullHuge,
  messages: 1_000_000,
  isWhole: true,
};
const small: Sizes = {
  lives: [['file', 300]],
  atOnce: 1,
  foreign: { requests: 12, documentsMax: 1 },
  huge: smallHuge,
  messages: 20_000,
  isWhole: false,
};

type Waiting = [index: number, life: Sizes['lives'][number]];

/** Runs `ringback doctor`, another process, only after at least this many requests. */
const examinedMin = 1_000;
const growthMiBMax = 64;
const seedStride = 1_000;

async function fuzzOwn(
  { lives, atOnce, isWhole }: Sizes,
  { seed, say }: Pick<PartOptions, 'seed' | 'say'>,
): Promise<Finding[]> {
  const results: [StoreKind, LifeResult][] = [];
  const waiting = [...lives.entries()];
  const live = async ([index, [store, requests]]: Waiting, isWeighed = false): Promise<void> => {
    const result = await liveOn(store, { seed: seed * seedStride + index, requests, isWeighed });
    results.push([store, result]);
    say(`${results.length} of ${lives.length} services, ${result.violations.length} violations`);
  };
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await live(next);
  };
  // Memory is measured per process, so the first service runs alone to measure its growth. For the others, only what
  // remains after they have ended is measured.
  const first = waiting.shift();
  if (first !== undefined) await live(first, true);
  const warmMiB = await heapMiB();
  await Promise.all(Array.from({ length: atOnce }, work));
  const leftMiB = Math.max(0, (await heapMiB()) - warmMiB);
  const kinds = [...new Set(lives.map(([store]) => store))];
  const all = results.map(([, result]) => result);
  const never = readDocument()
    .operations.map(({ operationId }) => operationId)
    .filter((id) => !all.some(({ done }) => done.has(id)));
  const grewMiB = Math.max(0, ...all.map((one) => one.grewMiB));
  const whole = findingOf('all requests', all, {
    operations: readDocument().operations.length,
    memoryGrewInOneLifeMiB: grewMiB,
    memoryLeftOfTheOthersMiB: leftMiB,
    residentMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
  });
  const violations = [
    ...(isWhole ? never.map((id) => `fuzz: ${id} never succeeded`) : []),
    ...(grewMiB > growthMiBMax ? [`I11: memory grew by ${grewMiB} MiB in one service`] : []),
    ...(leftMiB > growthMiBMax ? [`I11: ${leftMiB} MiB remain of services that have ended`] : []),
  ];
  return [
    { ...whole, violations },
    ...kinds.map((kind) => {
      const some = results.flatMap(([store, result]) => (store === kind ? [result] : []));
      return { ...findingOf(titles[kind], some), ...keptOf(some) };
    }),
  ];
}

const titles: Readonly<Record<StoreKind, string>> = {
  memory: 'SQLite in memory',
  file: 'SQLite in a file, opened again afterwards',
  postgres: 'PostgreSQL, opened again afterwards',
  exchanges: 'an API that registers its exchanges',
};

/** The service offers no operations to subscribe. */
const ofExchanges = [
  'registerExchange',
  'listSubscriptions',
  'getSubscription',
  'editSubscription',
  'deleteSubscription',
  'confirmSubscription',
];

async function liveOn(
  store: StoreKind,
  options: { seed: number; requests: number; isWeighed: boolean },
): Promise<LifeResult> {
  switch (store) {
    case 'memory':
      return runLife({ ...options, store: { RINGBACK_DATA: ':memory:' } });
    case 'exchanges':
      return runLife({
        ...options,
        store: { RINGBACK_DATA: ':memory:', ...exchanged },
        only: ofExchanges,
      });
    case 'file': {
      const folder = await mkdtemp(join(tmpdir(), 'ringback-fuzz-'));
      try {
        const isExamined = options.requests > examinedMin;
        return await runLife({ ...options, isExamined, store: { RINGBACK_DATA: folder } });
      } finally {
        await rm(folder, { recursive: true });
      }
    }
    case 'postgres': {
      await using database = await freshStoreDatabase();
      return await runLife({ ...options, store: { DATABASE_URL: database.url } });
    }
  }
}

export function findingOf(
  part: string,
  results: readonly LifeResult[],
  more: Finding['figures'] = {},
): Finding {
  const sum = (read: (one: LifeResult) => number): number =>
    results.reduce((total, one) => total + read(one), 0);
  const { valid, written, broken, wild } = {
    valid: sum(({ intents }) => intents.valid),
    written: sum(({ intents }) => intents.written),
    broken: sum(({ intents }) => intents.broken),
    wild: sum(({ intents }) => intents.wild),
  };
  const good = sum(({ statuses }) =>
    [...statuses].reduce((total, [status, count]) => total + (status < 400 ? count : 0), 0),
  );
  return {
    part,
    figures: {
      lives: results.length,
      requests: valid + written + broken + wild,
      valid,
      validBySchemaOnly: written,
      broken,
      wild,
      succeeded: good,
      deliveries: sum(({ deliveries }) => deliveries),
      ...more,
    },
    violations: results.flatMap(({ violations }) => violations),
  };
}

function keptOf(results: readonly LifeResult[]): Pick<Finding, 'events'> {
  const accepted = results.reduce((total, one) => total + one.accepted, 0);
  const lost = results.reduce((total, one) => total + one.lost, 0);
  return { events: { accepted, lost } };
}

async function fuzzOthers(
  { foreign }: Sizes,
  { seed, say }: Pick<PartOptions, 'seed' | 'say'>,
): Promise<Finding> {
  const part = 'documents of others, as contracts';
  const result = await fuzzForeign({ seed, ...foreign });
  if (result === undefined) {
    return { part, figures: {}, violations: [], skipped: 'the corpus of documents is absent' };
  }
  const { violations, ...figures } = result;
  say(`${figures.documents} documents of other projects, ${violations.length} violations`);
  return { part, figures: { ...figures }, violations };
}
