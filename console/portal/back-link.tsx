// The link above the heading of a page, to the list that it belongs to.
import type { JSX } from 'preact';
import { Icon } from '../src/components/icon.tsx';
import { t } from './language.ts';
import { href } from './route.ts';

export function BackLink({ to }: { readonly to: 'endpoints' | 'deliveries' }): JSX.Element {
  return (
    <p class="back-link">
      <a href={href(to)}>
        <Icon name="chevron" />
        {t().nav[to]}
      </a>
    </p>
  );
}
