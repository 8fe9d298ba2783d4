// Confirms an unconfirmed subscription: the API accepted the request that it came from. Here, because a publish may be
// the first to prove that.
import type { EditInput, EditOutput, Store } from '../../store/port/store.ts';
import type { Context } from '../context.ts';

export type ConfirmDeps = Pick<Context, 'changed' | 'changes' | 'expires'> & {
  store: Pick<Store, 'edit'>;
};

/** `id`: bare. Confirming again changes nothing. */
export async function confirmSubscription(
  context: ConfirmDeps,
  input: EditInput<'confirmSubscription'>,
): Promise<EditOutput<'confirmSubscription'>> {
  const result = await context.store.edit('confirmSubscription', input);
  if (result.kind !== 'confirmed') return result;
  const { appNo, id } = input;
  const { subscription, replaced } = result;
  const { expiresMs } = subscription.controls;
  context.changed(id, subscription.state);
  context.changes.subscription(appNo, id);
  if (expiresMs !== undefined) context.expires(expiresMs);
  if (replaced === undefined) return result;
  context.changed(replaced, 'ended');
  context.changes.subscription(appNo, replaced);
  return result;
}
