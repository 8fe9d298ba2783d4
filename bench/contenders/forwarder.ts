// A bare forwarder: fastify in, undici out, signed, nothing stored. It answers before it sends, so
// accepted events are lost when it ends: an upper bound for a process, not something to use.
import { answerParent } from '../harness/child-process.ts';
import type { Start } from './contender.ts';
import { receiversOf } from './receivers-of.ts';
import { listenForEvents } from './server.ts';

answerParent(async ({ ports }: Start) => {
  const send = receiversOf(ports);
  const port = await listenForEvents(async (sent) => {
    send(sent).catch((error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    });
  });
  return { port };
});
