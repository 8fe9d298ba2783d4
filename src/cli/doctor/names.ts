// Checks whether the name server answers. Without a network it does not, which is only a warning:
// Ringback starts anyway, and deliveries to names wait.
import { isIP } from 'node:net';
import { localhostAddresses, type Resolver } from '../../egress/guard/resolve.ts';
import { ok, warning, type Finding } from './finding.ts';

/** A name that always exists. */
const someName = 'example.com';

/** The name to look up: the given one, else the host of the public URL, else a fixed one. */
export function nameToLookUp(asked: string | undefined, publicUrl: string | undefined): string {
  if (asked !== undefined) return asked;
  const host = publicUrl === undefined ? '' : new URL(publicUrl).hostname;
  const isName = host !== '' && isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0;
  return isName ? host : someName;
}

export async function checkNames(resolver: Resolver, name: string): Promise<Finding> {
  if (localhostAddresses(name) !== undefined) {
    return ok('dns', `"${name}" is this machine; nothing was resolved (use --lookup NAME)`);
  }
  const found = await resolver.resolve(name);
  if (found.kind === 'addresses')
    return ok('dns', `"${name}" resolves to ${found.addresses.join(', ')}`);
  const remedy =
    'Check /etc/resolv.conf and the connection to the name servers: callbacks to host ' +
    'names fail';
  if (found.kind === 'missing') {
    return warning('dns', { message: `The name server has no address for "${name}"`, remedy });
  }
  const why = found.reason === 'timeout' ? 'does not respond in time' : 'responds with an error';
  return warning('dns', { message: `The name server ${why} for "${name}"`, remedy });
}
