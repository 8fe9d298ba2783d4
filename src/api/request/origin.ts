// Cross-site request forgery: browsers send cookies on their own, so a foreign page could use a key
// in one. For requests that change something, the browser must state that they come from our own
// origin.
import { isJson } from '../../contract/model/media.ts';
import { readMediaType, type RawHead } from './raw-request.ts';

/**
 * Why the request is refused, or undefined when it may pass (docs/openapi-semantics.md rule 26).
 */
export function crossOriginFault(
  { method, head }: { method: string; head: RawHead },
  publicOrigin: string,
): string | undefined {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return undefined;
  const site = head.header.get('sec-fetch-site');
  const origin = head.header.get('origin');
  if (site !== undefined) {
    if (site !== 'same-origin' && site !== 'none') {
      return `Sec-Fetch-Site is ${JSON.stringify(site)}, expected same-origin or none`;
    }
  } else if (origin !== undefined && origin !== publicOrigin) {
    return `Origin is ${JSON.stringify(origin)}, expected ${JSON.stringify(publicOrigin)}`;
  }
  return bodyFault(head);
}

function bodyFault({ header, hasBody }: RawHead): string | undefined {
  if (!hasBody) return undefined;
  const type = readMediaType(header.get('content-type'));
  if (type !== undefined && isJson(type.mediaType)) return undefined;
  return 'the body is not JSON, expected Content-Type application/json';
}
