// A bare forwarder: fastify in, undici out, signed, nothing stored. It answers before it sends, so what it
// has accepted is lost when it ends: the limit of what a process can do, not a thing to use.
import { answering } from '../harness/ask.ts';
import type { Start } from './contender.ts';
import { receiversOf } from './receivers-of.ts';
import { listenForEvents } from './server.ts';

answering(async ({ ports }: Start) => {
  const send = receiversOf(ports);
  const port = await listenForEvents(async (sent) => {
    send(sent).catch((error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    });
  });
  return { port };
});
