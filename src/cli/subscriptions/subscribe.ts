// `ringback subscribe`: subscribes a callback URL, and prints what its receiver needs. The secret
// can be shown again with `ringback subscriptions SUB --secret`.
import type { Client, Subscribed } from '../../client/client.ts';
import type { Invocation } from '../declare/command.ts';
import { readSubscribeInput, type SubscribeInput } from './subscribe-input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { json, viewOf } from '../service/view.ts';
import { withService } from '../service/with-service.ts';

export async function subscribe(call: Invocation, terminal: Terminal): Promise<void> {
  const wish = readSubscribeInput(call, terminal.world.nowMs());
  const idempotencyKey = call.text('idempotency-key');
  const subscribed = await withService(call, async ({ client }) =>
    send(client, wish, idempotencyKey === undefined ? {} : { idempotencyKey }),
  );
  if (call.isJson) return terminal.out(json(subscribed));
  terminal.out(text(viewOf(terminal).paint, wish, subscribed));
}

async function send(
  client: Client,
  wish: SubscribeInput,
  options: { idempotencyKey?: string },
): Promise<Subscribed> {
  const { controls } = wish;
  const chosen = Object.keys(controls).length === 0 ? {} : { 'x-ringback': controls };
  switch (wish.kind) {
    case 'body':
      return client.subscribe({ callbackUrl: wish.callbackUrl, ...chosen }, options);
    case 'query':
      return client.subscribe(
        { callbackUrl: wish.callbackUrl, event: wish.event, ...chosen },
        options,
      );
    case 'multi':
      return client.subscribe({ ...wish.urls, ...chosen }, options);
  }
}

function text(
  paint: ReturnType<typeof viewOf>['paint'],
  wish: SubscribeInput,
  { subscriberId, secret }: Subscribed,
): string {
  return [
    `Subscribed to ${heard(wish)}.`,
    '',
    `  subscriber id  ${paint('bold', subscriberId)}`,
    `  secret         ${paint('bold', secret)}`,
    '',
    'The receiver verifies signatures with the secret; see docs/receiving.md, or use ' +
      'ringback/receiver.',
    `  ringback subscriptions ${subscriberId} --ping    Send it a test event`,
    `  ringback deliveries --to ${subscriberId}         List its deliveries`,
    `  ringback unsubscribe ${subscriberId}             End the subscription`,
    '',
  ].join('\n');
}

function heard(wish: SubscribeInput): string {
  switch (wish.kind) {
    case 'body':
      return wish.controls.events?.join(' and ') ?? 'every event';
    case 'query':
      return `the event ${wish.event}`;
    case 'multi':
      return [
        wish.urls.inProgressUrl === undefined ? [] : ['inProgress'],
        wish.urls.failedUrl === undefined ? [] : ['failed'],
        wish.urls.successUrl === undefined ? [] : ['success'],
      ]
        .flat()
        .join(' and ');
  }
}
