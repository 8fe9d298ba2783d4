// Compiles the webhooks of a document: the events that its API publishes. They name no operation that registers a
// callback URL, so their subscribers use Ringback's own.
import { isEventName, isWildcard, nameFault } from '../../core/domain/pattern.ts';
import { ownPrefix } from '../../core/domain/event.ts';
import { bounds } from '../document/bounds.ts';
import {
  child,
  describe,
  entries,
  errorAt,
  text,
  warn,
  type RefNode,
} from '../document/ref-node.ts';
import type { Webhook } from '../model/contract.ts';
import { methodsOf } from '../model/declared-operations.ts';
import { compilePayload } from './callbacks.ts';

/** In the order of the document. */
export function compileWebhooks(root: RefNode): Webhook[] {
  const declared = entries(child(root, 'webhooks')).filter(([name]) => !name.startsWith('x-'));
  if (declared.length > bounds.callbacksMax) {
    const reason = `the contract has more than ${bounds.callbacksMax}`;
    throw errorAt(root, 'add the webhooks', reason);
  }
  const names = new Set<string>();
  return declared.flatMap(([key, item]) => {
    const webhook = compileWebhook(key, item);
    if (webhook === undefined) return [];
    if (names.has(webhook.event)) {
      warn(item, `the event "${webhook.event}" has a webhook already; this one is ignored`);
      return [];
    }
    names.add(webhook.event);
    return [webhook];
  });
}

function compileWebhook(key: string, item: RefNode): Webhook | undefined {
  const operations = methodsOf(item);
  const operation = operations.find(({ method }) => method === 'POST') ?? operations[0];
  if (operation === undefined) {
    warn(item, `has no operation (${describe(item.value)}); the webhook is ignored`);
    return undefined;
  }
  if (operations.length > 1) warn(item, `has several operations; only ${operation.method} is used`);
  const { method, place } = operation;
  const event = text(place, 'x-ringback-event') ?? text(item, 'x-ringback-event') ?? key;
  const fault = faultOf(event);
  if (fault !== undefined) {
    warn(item, `"${event}" ${fault}; the webhook is ignored. x-ringback-event sets another name`);
    return undefined;
  }
  const said = [place, item].flatMap((holder) => [
    text(holder, 'description'),
    text(holder, 'summary'),
  ]);
  return {
    event,
    key,
    method,
    description: said.find((one) => one !== undefined && one !== ''),
    isDeprecated: child(place, 'deprecated')?.value === true,
    ...compilePayload(method, place),
  };
}

function faultOf(event: string): string | undefined {
  if (!isEventName(event)) return nameFault;
  if (isWildcard(event)) return 'is a pattern, expected the name of an event';
  return event.startsWith(ownPrefix) ? 'is reserved for Ringback’s own events' : undefined;
}
