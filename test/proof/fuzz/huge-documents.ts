// Documents whose examples would take hours to find, because each schema uses the next one several times. Their reports
// are requested without a key while /healthz is polled. Each report must arrive and name what was not found within the
// work limit, and the event loop must stay responsive. Assertions use counts; times are only printed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { outOfWork } from '../../../src/contract/sample/sample.ts';
import { start } from '../../api/harness.ts';
import type { Finding } from '../finding.ts';

/** Kinds of schema chains, and how many callbacks enter the chain at different positions. */
export interface HugeSizes {
  kinds: readonly (keyof typeof kinds)[];
  callbacks: number;
}

export const smallHuge: HugeSizes = { kinds: ['members'], callbacks: 12 };
export const fullHuge: HugeSizes = {
  kinds: ['members', 'branches', 'items', 'circles'],
  callbacks: 500,
};

/** Responses of `/healthz` that must come before the report. If the report blocked the event loop, none would. */
const answersLeast = 3;
const chainLength = 40;

export async function askForHugeReports({ kinds: asked, callbacks }: HugeSizes): Promise<Finding> {
  const violations: string[] = [];
  const figures: Record<string, number> = {};
  for (const kind of asked) {
    const folder = await mkdtemp(join(tmpdir(), 'ringback-huge-'));
    try {
      const path = join(folder, 'huge.json');
      await writeFile(path, JSON.stringify(hugeDocument(kind, callbacks)));
      await using service = await start({
        env: { RINGBACK_DATA: ':memory:', RINGBACK_CONTRACT: path },
      });
      const seen = await askWhilePolling(service.url);
      violations.push(...seen.flaws.map((flaw) => `huge: ${kind}: ${flaw}`));
      figures[`${kind}: healthz answered meanwhile`] = seen.answers;
      figures[`${kind}: loop held at most, ms`] = seen.heldMs;
      figures[`${kind}: not found within the limit`] = seen.notFound;
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return { part: 'reports of huge documents', figures, violations };
}

interface Seen {
  flaws: string[];
  answers: number;
  heldMs: number;
  notFound: number;
}

/** Two clients request the same report at once, without a key. */
async function askWhilePolling(url: string): Promise<Seen> {
  await (await fetch(`${url}/healthz`)).text(); // Warm-up: the first request loads code.
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const state = { isOver: false };
  const reports = Promise.all([fetchText(reportOf(url)), fetchText(reportOf(url))]).finally(() => {
    state.isOver = true;
  });
  let answers = 0;
  while (!state.isOver) {
    const { status } = await fetchText(`${url}/healthz`);
    if (status === 200 && !state.isOver) answers += 1;
  }
  delay.disable();
  const [one, other] = await reports;
  const notFound = one.text.split(outOfWork).length - 1;
  const flaws = [
    ...(one.status === 200 ? [] : [`the report was answered with ${one.status}`]),
    ...(one.text === other.text ? [] : ['two clients got different reports']),
    ...(notFound > 0 ? [] : ['the report does not say that the work limit was reached']),
    ...(answers >= answersLeast ? [] : [`${answers} answers while the report was made`]),
  ];
  return { flaws, answers, heldMs: Math.round(delay.max / 1e6), notFound };
}

function reportOf(url: string): string {
  return `${url}/contracts/Huge/report`;
}

async function fetchText(url: string): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(url);
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

type Schema = Record<string, unknown>;

/** How one schema of the chain uses the next. */
const kinds = {
  members: (next: Schema): Schema => ({
    type: 'object',
    required: ['a', 'b'],
    properties: { a: next, b: next },
  }),
  branches: (next: Schema): Schema => ({
    oneOf: [next, { allOf: [next, { not: next }] }],
  }),
  items: (next: Schema): Schema => ({
    type: 'array',
    minItems: 50,
    uniqueItems: true,
    items: next,
  }),
  circles: (next: Schema): Schema => ({
    type: 'object',
    required: ['next', 'first'],
    properties: { next, first: { $ref: '#/components/schemas/s0' } },
  }),
};

function hugeDocument(kind: keyof typeof kinds, callbacks: number): Record<string, unknown> {
  const ref = (at: number): Schema => ({ $ref: `#/components/schemas/s${at}` });
  const chain = Array.from({ length: chainLength }, (_none, at) => [
    `s${at}`,
    kinds[kind](ref(at + 1)),
  ]);
  const hooks = Array.from({ length: callbacks }, (_none, at) => {
    const content = { 'application/json': { schema: ref(at % chainLength) } };
    const callback = { post: { requestBody: { content }, responses: {} } };
    const text = { type: 'string' };
    const post = {
      parameters: [{ name: 'url', in: 'query', required: true, schema: text }],
      responses: { 201: { description: 'Made.' } },
      callbacks: { [`event${at}`]: { '{$request.query.url}': callback } },
    };
    return [`/hooks${at}`, { post }];
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Huge', version: '1' },
    paths: Object.fromEntries(hooks),
    components: {
      schemas: { ...Object.fromEntries(chain), [`s${chainLength}`]: { type: 'string' } },
    },
  };
}
