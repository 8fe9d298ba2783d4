// Waits for a program's ready message, and keeps reading afterwards, so that the program never
// blocks on the pipe.
import type { Readable } from 'node:stream';

/** Rejects if the stream ends without it. */
export async function waitForOutput(stream: Readable, pattern: RegExp): Promise<RegExpExecArray> {
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
