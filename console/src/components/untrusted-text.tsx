// Untrusted text (names, URLs, headers, payloads): shown as text in its own direction, with hidden
// characters made visible. It never becomes markup and never breaks the layout.
import type { JSX } from 'preact';
import { shortId } from '../format.ts';
import { limits } from '../limits.ts';
import { piecesOf, visible } from '../hidden-characters.ts';

/** `clip` keeps it on one line with an ellipsis; the title holds the full text. */
export function UntrustedText({
  text,
  clip = false,
  mono = false,
}: {
  text: string;
  clip?: boolean;
  mono?: boolean;
}): JSX.Element {
  const classes = ['untrusted', clip ? 'clip' : '', mono ? 'mono' : ''].join(' ').trim();
  return (
    <bdi class={classes} {...(clip ? { title: titleOf(text) } : {})}>
      <Pieces text={clip ? text.slice(0, limits.titleCharsMax) : text} />
    </bdi>
  );
}

/** Without a wrapper element. */
export function Pieces({ text }: { text: string }): JSX.Element {
  return (
    <>
      {piecesOf(text).map((piece, at) =>
        piece.kind === 'text' ? (
          piece.text
        ) : (
          <span key={at} class="hidden-char">
            {piece.name}
          </span>
        ),
      )}
    </>
  );
}

/** A Ringback ID, shortened in the middle. */
export function Id({ id }: { id: string }): JSX.Element {
  return (
    <span class="mono id" title={id}>
      {shortId(id)}
    </span>
  );
}

function titleOf(text: string): string {
  const shown = visible(text.slice(0, limits.titleCharsMax));
  return text.length > limits.titleCharsMax ? `${shown}…` : shown;
}
