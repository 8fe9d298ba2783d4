// A block of untrusted text: wraps or scrolls inside itself, indents JSON without changing it, says
// where it was truncated, and shows only the beginning of a large text until all of it is
// requested.
import './code.css';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { bytes } from '../format.ts';
import { indented, jsonPieces } from '../json-text.ts';
import { limits } from '../limits.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Pieces } from './untrusted-text.tsx';

export function Code({
  text,
  label,
  isCut = false,
}: {
  readonly text: string;
  /** What the text is, for screen readers and the copy button: `response body`. */
  readonly label: string;
  /** The stored text is truncated. */
  readonly isCut?: boolean;
}): JSX.Element {
  const isWhole = useSignal(false);
  const pretty = useMemo(() => indented(text, { isCut }), [text, isCut]);
  const all = pretty ?? text;
  const start = useMemo(() => beginning(all), [all]);
  const isShortened = start.length < all.length && !isWhole.value;
  const shown = isShortened ? start : all;
  return (
    <div class="code">
      <div class="code-tools">
        <CopyButton text={text} what={label} isBare />
      </div>
      <pre class="code-text" tabIndex={0} aria-label={label} dir="ltr">
        <code>
          {pretty !== undefined && shown.length <= limits.codeCharsMax ? (
            <Coloured json={shown} />
          ) : (
            <Chunks text={shown} />
          )}
        </code>
        {isCut && !isShortened ? <span class="code-cut">{words().cut}</span> : null}
      </pre>
      {isShortened ? (
        <div class="code-more">
          <span class="soft">{words().firstPart(bytes(new Blob([all]).size))}</span>
          <Button size="small" onClick={() => (isWhole.value = true)}>
            {words().showAll}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

/** A single chunk is always laid out: content-visibility would reserve a far too large height. */
function Chunks({ text }: { text: string }): JSX.Element {
  const chunks = chunksOf(text);
  if (chunks.length === 1) return <Pieces text={text} />;
  return (
    <>
      {chunks.map((chunk, at) => (
        <span key={at} class="code-chunk">
          <Pieces text={chunk} />
        </span>
      ))}
    </>
  );
}

function Coloured({ json }: { json: string }): JSX.Element {
  return (
    <>
      {jsonPieces(json).map(({ kind, text }, at) =>
        kind === 'plain' ? (
          text
        ) : (
          <span key={at} class={`json-${kind}`}>
            <Pieces text={text} />
          </span>
        ),
      )}
    </>
  );
}

/**
 * Splits into chunks of whole lines, of which the browser lays out only the visible ones: 2 MiB in
 * 90,000 lines take 70 ms instead of 1.2 s.
 */
function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length;) {
    const lineEnd = text.indexOf('\n', from + limits.codeCharsMax);
    const until = lineEnd === -1 ? text.length : lineEnd + 1;
    chunks.push(text.slice(from, until));
    from = until;
  }
  return chunks;
}

function beginning(text: string): string {
  const head = text.slice(0, limits.codeCharsMax);
  const lines = head.split('\n', limits.codeLinesMax + 1);
  if (lines.length > limits.codeLinesMax) return lines.slice(0, limits.codeLinesMax).join('\n');
  // Do not split a surrogate pair.
  return text.length > head.length ? head.replace(/[\ud800-\udbff]$/u, '') : head;
}
