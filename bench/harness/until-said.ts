// Waits for what a program says when it is ready, and goes on reading afterwards, so that it never waits.
import type { Readable } from 'node:stream';

/** Rejects when it ends without that. */
export async function untilSaid(stream: Readable, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let said: string | undefined = '';
    stream.on('data', (chunk) => {
      if (said === undefined) return;
      said += String(chunk);
      const match = pattern.exec(said);
      if (match === null) return;
      said = undefined;
      resolve(match);
    });
    stream.once('close', () => reject(new Error(`It ended and did not say ${pattern}: ${said}`)));
  });
}
