// Sends the largest accepted bodies to operations with the most expensive schemas that a document can contain. Each must
// be refused because its check exceeds the step limit. Assertions use counts; CPU times are only printed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../../src/core/limits/limits.ts';
import { start } from '../../api/harness.ts';
import type { Finding } from '../finding.ts';

type Schema = Record<string, unknown>;

/** As many items as a body may have, by bytes and by values. */
function many(one: (at: number) => unknown, { values = 1 } = {}): unknown[] {
  const items: unknown[] = [];
  const most = (0.95 * limits.jsonNodesMax) / values;
  for (let bytes = 0; bytes < 0.95 * limits.bodyBytesMax && items.length < most;) {
    const item = one(items.length);
    items.push(item);
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
  }
  return items;
}

/** Schemas, each with a body that would take long to check without the limit. */
const kinds: Readonly<Record<string, { schema: Schema; list: () => unknown[] }>> = {
  'unique lists': {
    schema: { uniqueItems: true },
    list: () => many((at) => [at, [at]], { values: 4 }),
  },
  'lists of an enum': {
    schema: { items: { enum: Array.from({ length: 900 }, (_none, at) => [[at], at]) } },
    list: () => many((at) => [[at % 900], at % 900], { values: 4 }),
  },
  'many branches': {
    schema: { items: { anyOf: Array.from({ length: 200 }, (_none, at) => ({ const: -at })) } },
    list: () => many((at) => (at % 3) - 199),
  },
  'distinct characters': {
    schema: { items: { pattern: String.raw`^[\u0100-\uffff]*$` } },
    list: () =>
      many((at) =>
        Array.from({ length: 500 }, (_none, n) =>
          String.fromCharCode(0x4e00 + ((at * 500 + n) % 20_000)),
        ).join(''),
      ),
  },
};

export async function sendHugeValues(): Promise<Finding> {
  const violations: string[] = [];
  const figures: Record<string, number> = {};
  const folder = await mkdtemp(join(tmpdir(), 'ringback-huge-'));
  try {
    const path = join(folder, 'huge.json');
    await writeFile(path, JSON.stringify(documentOf()));
    const env = { RINGBACK_DATA: ':memory:', RINGBACK_CONTRACT: path };
    await using service = await start({ env });
    for (const [at, [kind, { list }]] of Object.entries(kinds).entries()) {
      const headers = { 'content-type': 'application/json' };
      const call = { method: 'POST', headers, path: `/hooks${at}?url=http://localhost/` };
      await service.call({ ...call, body: { list: [] } }); // Warm-up: the first request loads code.
      const body = JSON.stringify({ list: list() });
      const turns = watchTurns();
      const { status, text } = await service.call({ ...call, body });
      figures[`${kind}: longest turn of the event loop, ms of CPU`] = turns.end();
      if (status !== 400 || !/\d+ steps/.test(text)) {
        violations.push(`huge values: ${kind}: answered with ${status} ${text.slice(0, 200)}`);
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return { part: 'huge values', figures, violations };
}

/** CPU time of this thread, client included: wall-clock time on a busy machine means nothing. */
function watchTurns(): { end: () => number } {
  let [longest, isOver] = [0, false];
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, user + system);
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return {
    end: () => {
      isOver = true;
      return Math.round(longest / 1_000);
    },
  };
}

function documentOf(): Schema {
  const paths = Object.values(kinds).map(({ schema }, at) => {
    const list = { type: 'array', ...schema };
    const content = {
      'application/json': { schema: { type: 'object', properties: { list } } },
    };
    const callback = { post: { requestBody: { content: {} }, responses: {} } };
    const post = {
      parameters: [{ name: 'url', in: 'query', required: true, schema: { type: 'string' } }],
      requestBody: { content },
      responses: { 201: { description: 'Made.' } },
      callbacks: { [`event${at}`]: { '{$request.query.url}': callback } },
    };
    return [`/hooks${at}`, { post }];
  });
  const info = { title: 'Huge', version: '1' };
  // Operations without a key only accept small bodies.
  const components = {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
  };
  const security = [{ key: [] }];
  return { openapi: '3.1.0', info, paths: Object.fromEntries(paths), components, security };
}
