// What undici alone sends from one process: signed requests from memory to the same receivers, with
// as many connections as Ringback has. An upper bound for any sender.
import { answerParent } from '../harness/child-process.ts';
import { samplePayload } from '../harness/numbered-payloads.ts';
import { newId, receiversOf } from './receivers-of.ts';

export interface Burst {
  ports: readonly number[];
  /** The total number of requests. */
  count: number;
  atOnce: number;
}

answerParent(async ({ ports, count, atOnce }: Burst) => {
  const send = receiversOf(ports);
  const payload = samplePayload();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const event = `e${next % ports.length}`;
      next += 1;
      await send({ id: `evt_${newId()}`, event, payload });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return {};
});
