// Calls of the command line to a running service. A refusal becomes a sentence.
import { request } from 'undici';
import { CliFailure } from './failure.ts';

export interface Client {
  call(call: ClientCall): Promise<Readonly<Record<string, unknown>>>;
}

export interface ClientCall {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: unknown;
}

export function createClient({ url, key }: { url: string; key: string }): Client {
  return {
    call: async ({ method, path, body }) => {
      const answer = await request(url + path, {
        method,
        headers: {
          'x-api-key': key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      }).catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new CliFailure(`Cannot reach Ringback at ${url}: ${reason}`, { cause });
      });
      const text = await answer.body.text();
      const json = readObject(text);
      if (answer.statusCode < 300) return json;
      const why = typeof json['detail'] === 'string' ? json['detail'] : text.slice(0, 200);
      throw new CliFailure(`Ringback refused ${method} ${path} with ${answer.statusCode}: ${why}`);
    },
  };
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value))
      : {};
  } catch {
    return {};
  }
}
