// Listing nodes.
import type { Node } from '../../store/port/node-verbs.ts';
import type { Context } from '../context.ts';

export async function listNodes({ store }: Pick<Context, 'store'>): Promise<readonly Node[]> {
  return store.read('nodes', {});
}
