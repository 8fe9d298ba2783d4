// The API behind the gateway: its address, and the connections to it, which are kept alive.
import type { Dispatcher } from 'undici';
import { limits } from '../../core/limits/limits.ts';

export interface Upstream extends AsyncDisposable {
  /** The Host header that it needs; undefined: that of the caller. */
  host: string | undefined;
  /** In front of every path. */
  basePath: string;
  dispatch: Dispatcher['dispatch'];
}

/** `url` may have a path, but nothing after it. */
export async function openUpstream(url: string): Promise<Upstream> {
  // Loaded here, because most services have no upstream, and it takes a tenth of a start.
  const { Pool } = await import('undici');
  const { origin, host, protocol, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections: limits.connectionsMax,
    allowH2: false, // Headers and trailers would be read in another way.
    headersTimeout: 0, // Relay has deadlines of its own.
    bodyTimeout: 0,
    maxHeaderSize: limits.upstreamHeadBytesMax,
    connect: { timeout: limits.connectTimeoutMs },
  });
  return {
    // The server behind https is chosen by name, in the TLS handshake already.
    host: protocol === 'https:' ? host : undefined,
    basePath: pathname.replace(/\/$/, ''),
    dispatch: (options, handler) => pool.dispatch(options, handler),
    [Symbol.asyncDispose]: async () => pool.destroy(),
  };
}
