// Selects a step or a range of steps of a chart by pointer or keyboard. It does not know the
// values.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { stepAt } from './chart-scale.ts';

/** Where the selection began and where it is now. */
export type Chosen = { readonly anchor: number; readonly at: number };

type Choice = {
  readonly chosen: Chosen | undefined;
  readonly handlers: {
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: () => void;
    readonly onPointerCancel: () => void;
    readonly onPointerLeave: () => void;
    readonly onBlur: () => void;
  };
};

export function useStepSelection(
  field: { current: HTMLElement | null },
  {
    size,
    onSelect,
  }: {
    size: number;
    onSelect: ((between: { first: number; last: number }) => void) | undefined;
  },
): Choice {
  const chosen = useSignal<Chosen | undefined>(undefined);
  const isDragging = useRef(false);
  const last = Math.max(0, size - 1);

  const drop = (): void => {
    isDragging.current = false;
    chosen.value = undefined;
  };
  const select = (): void => {
    const now = chosen.value;
    if (now === undefined || onSelect === undefined) return;
    drop();
    onSelect({ first: Math.min(now.anchor, now.at), last: Math.max(now.anchor, now.at) });
  };
  const point = (event: PointerEvent): void => {
    const box = field.current?.getBoundingClientRect();
    if (box === undefined || size === 0) return;
    const at = stepAt(event.clientX - box.left, { width: box.width, size });
    chosen.value = { anchor: isDragging.current ? (chosen.value?.anchor ?? at) : at, at };
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') return select();
    if (event.key === 'Escape' && chosen.value !== undefined) {
      event.preventDefault();
      return drop();
    }
    const from = Math.min(chosen.value?.at ?? last, last);
    const at = moved(event.key, from, last);
    if (at === undefined || size === 0) return;
    event.preventDefault();
    const isLonger = event.shiftKey && onSelect !== undefined;
    chosen.value = { anchor: isLonger ? (chosen.value?.anchor ?? from) : at, at };
  };

  return {
    chosen: chosen.value,
    handlers: {
      onKeyDown: press,
      onPointerDown: (event) => {
        if (onSelect === undefined || event.button !== 0) return;
        point(event);
        isDragging.current = true;
        field.current?.setPointerCapture(event.pointerId);
      },
      onPointerMove: point,
      onPointerUp: () => {
        if (isDragging.current) select();
      },
      onPointerCancel: drop,
      onPointerLeave: () => {
        if (!isDragging.current) drop();
      },
      onBlur: drop,
    },
  };
}

function moved(key: string, at: number, last: number): number | undefined {
  const to = {
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    PageUp: at + 10,
    PageDown: at - 10,
    Home: 0,
    End: last,
  }[key];
  return to === undefined ? undefined : Math.min(last, Math.max(0, to));
}
