// The ID of the item in a drawer, with a copy button.
import type { JSX } from 'preact';
import { CopyButton } from './copy-button.tsx';
import { Id } from './untrusted-text.tsx';
import { Fact } from './drawer-section.tsx';

export function IdFact({ id }: { readonly id: string }): JSX.Element {
  return (
    <Fact name="ID">
      <span class="cluster">
        <Id id={id} />
        <CopyButton text={id} what="ID" isBare />
      </span>
    </Fact>
  );
}
