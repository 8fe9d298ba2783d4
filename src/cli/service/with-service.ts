// Runs a command's calls to a service. Refusals become sentences that say what to do.
import { createClient, RingbackError, UnreachableError, type Client } from '../../client/client.ts';
import { scopes } from '../../core/domain/key.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { readConnection, type Connection } from './connect.ts';
import { CliFailure } from '../terminal/failure.ts';

export interface Service {
  client: Client;
  url: string;
}

export async function withService<T>(
  call: Invocation,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const connection = readConnection(call);
  const { url } = connection;
  const client = open(connection);
  try {
    return await work({ client, url });
  } catch (error) {
    throw explained(error, url);
  }
}

/** A key that is not a valid header value fails here and is not repeated in the message. */
function open(connection: Connection): Client {
  try {
    return createClient({ ...connection, retries: limits.callRetries });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliFailure(why, { cause, exitCode: 2 });
  }
}

/** Errors that are not answers of the service stay unchanged. */
export function explained(error: unknown, url: string): unknown {
  if (error instanceof UnreachableError) {
    return new CliFailure(unreached(error), { cause: error });
  }
  if (!(error instanceof RingbackError)) return error;
  const { code, status } = error;
  return new CliFailure(`${sentence(error, url)}${remedy(error)}`, { cause: error, code, status });
}

/** A refused connection did nothing; a request without an answer may have been executed. */
function unreached({ message, url }: UnreachableError): string {
  const why = message.slice(message.lastIndexOf(`${url}: `) + url.length + 2);
  const isHarmless = message.startsWith('Cannot GET') || why.includes('ECONNREFUSED');
  return [
    `Cannot reach Ringback at ${url}: ${why.replace(/^fetch failed: /, '')}`,
    'Is it running? Start it with "ringback serve", or set its address with --url or ' +
      'RINGBACK_URL.',
    ...(isHarmless
      ? []
      : ['The request may still have been processed: check before you repeat it.']),
  ].join('\n');
}

function sentence({ code, detail, problem }: RingbackError, url: string): string {
  if (code === 'unauthorized')
    return `Cannot call Ringback at ${url}: the service rejected the API key.`;
  const all = (problem?.errors ?? []).filter(({ message }) => !detail.includes(message));
  const faults = all.slice(0, faultsShownMax);
  const hidden = all.length - faults.length;
  const lines = faults.map(({ field, message }) => `\n  ${field}: ${message}`);
  return `${detail}${lines.join('')}${hidden > 0 ? `\n  and ${hidden} more` : ''}`;
}

function remedy({ code, detail, requestId }: RingbackError): string {
  switch (code) {
    case 'unauthorized':
      return (
        '\nPass another key with --key or RINGBACK_API_KEY. Create one in the console or with ' +
        'POST /keys; while the service is stopped, or on PostgreSQL, with "ringback key ' +
        'create". If the service also requires the app id, pass --app-id.'
      );
    case 'missing_scope': {
      const scope = scopes.find((name) => detail.includes(`"${name}"`)) ?? 'SCOPE';
      return (
        '\nUse a key with that scope, or create one in the console or with POST /keys. While ' +
        'the service is stopped, or on PostgreSQL, you can also run:\n' +
        `  ringback key create --name NAME --scopes ${scope}`
      );
    }
    case 'not_found':
      return '\nIt may belong to another app, or have been deleted when its retention ended.';
    case 'quota_exceeded':
      return '\nEnd some of them, or ask the operator for a higher quota.';
    case 'rate_limited':
    case 'overloaded':
      return '\nNothing was changed. Try again later.';
    case 'store_unavailable':
      return '\nThe request may still have been processed: check before you repeat it.';
    case 'redirected':
    case 'unreadable_answer':
      return '\nIs this the address of Ringback? Set it with --url or RINGBACK_URL.';
    case 'internal':
      return `\nThis is a bug of Ringback: report it with the request id ${requestId ?? 'from its log'}.`;
    default:
      return '';
  }
}

const faultsShownMax = 10;
