// Shrinks a failing request while it still fails in the same way, so that only the relevant parts remain.
import { kindOfFlaw } from './flaw.ts';
import { isObject } from './schema-errors.ts';
import { asJson, isDeep, type FuzzRequest } from './request.ts';

const sendsMax = 60;

export async function shrink(
  request: FuzzRequest,
  flaws: readonly string[],
  retry: (smaller: FuzzRequest) => Promise<readonly string[]>,
): Promise<FuzzRequest> {
  const kinds = new Set(flaws.map(kindOfFlaw));
  let best = request;
  let sends = 0;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const smaller of smallerThan(best)) {
      if (sends >= sendsMax) return best;
      sends += 1;
      const still = await retry(smaller);
      if (!still.some((flaw) => kinds.has(kindOfFlaw(flaw)))) continue;
      best = smaller;
      isSmaller = true;
      break;
    }
  }
  return best;
}

function* smallerThan(request: FuzzRequest): Generator<FuzzRequest> {
  const { headers, query, body, raw, rawQuery } = request;
  if (raw !== undefined) return;
  for (const i of headers.keys()) yield { ...request, headers: headers.toSpliced(i, 1) };
  for (const i of rawQuery === undefined ? query.keys() : []) {
    yield { ...request, query: query.toSpliced(i, 1) };
  }
  for (const value of smallerValues(isDeep(body) ? undefined : asJson(body))) {
    yield { ...request, body: Buffer.from(JSON.stringify(value)) };
  }
}

/** A generator, because a long list has many smaller variants. */
function* smallerValues(value: unknown): Generator {
  if (Array.isArray(value)) {
    const items = value as readonly unknown[];
    if (items.length > 3) yield items.slice(0, items.length / 2);
    for (const [i, item] of items.entries()) {
      if (items.length > 1) yield items.toSpliced(i, 1);
      for (const one of smallerValues(item)) yield items.with(i, one);
    }
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _gone, ...rest } = value;
      yield rest;
      for (const one of smallerValues(member)) yield { ...value, [name]: one };
    }
  }
}
