// Sends a request of the fuzzer, on a new connection if it could break the requests after it.
import { bytesOf, type FuzzRequest } from './request.ts';
import type { Wire, WireAnswer } from './wire.ts';

const framing = /^(content-length|transfer-encoding|upgrade|connection|expect|host)$/i;

export async function sendOn(wire: Wire, request: FuzzRequest): Promise<WireAnswer | undefined> {
  const isRaw = request.raw !== undefined;
  const isAlone = isRaw || request.headers.some(([name]) => framing.test(name));
  const options = { method: methodOf(request), isAlone, isRaw };
  for (let turn = 1; ; turn += 1) {
    const answer = await wire.send(bytesOf(request, wire.host), options);
    if (turn === turnsMax || answer?.status !== 503 || !isBusy(answer.body.toString()))
      return answer;
  }
}

/** On a busy machine the store may miss its deadline, which is not a flaw; the request is then repeated. */
const turnsMax = 20;

function isBusy(text: string): boolean {
  return text.includes('"code":"store_unavailable"') || text.includes('"code":"overloaded"');
}

function methodOf({ raw, method }: FuzzRequest): string {
  return raw === undefined ? method : (Buffer.from(raw).toString('latin1').split(' ', 1)[0] ?? '');
}
