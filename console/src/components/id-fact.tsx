// The id of what a drawer shows, to be read and copied.
import type { JSX } from 'preact';
import { CopyButton } from './copy-button.tsx';
import { Id } from './untrusted-text.tsx';
import { Fact } from './drawer-section.tsx';

export function IdFact({ id }: { readonly id: string }): JSX.Element {
  return (
    <Fact name="Id">
      <span class="cluster">
        <Id id={id} />
        <CopyButton text={id} what="id" isBare />
      </span>
    </Fact>
  );
}
